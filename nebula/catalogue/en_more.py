"""Further sentences: what the doctor, the demo and the bench say."""

MORE: dict[str, str] = {
    "bench.unknown_emo": "Emotion words left out, being none of the seven: {words}",
    "check.python": "Python",
    "check.folder": "Data folder",
    "check.memories": "Memories",
    "check.meaning": "Semantic retrieval",
    "check.mood": "Mood source",
    "check.map": "Star map",
    "doctor.python": "Python {version}",
    "doctor.folder": "Data folder writable: {folder} ({rule}), ledgers: {ledgers}",
    "doctor.folder_new": "Data folder not there yet, the first add makes it: {folder} ({rule})",
    "doctor.folder_readonly": "Data folder can't be written: {folder}: {reason}",
    "doctor.modes": "Others can read it ({names}): chmod -R go-rwx {folder}",
    "doctor.conflicted": (
        "A sync program left conflicted copies, which are not read: "
        "{names}; bring their lines back with `nebula add --batch`"
    ),
    "doctor.memories": "Memories {total}: {shown}",
    "doctor.empty": "No memories yet",
    "doctor.first": 'The first one: nebula add "…"',
    "doctor.elsewhere": "Memories lie elsewhere: {folders}; to use them: export NEBULA_MIND={first}",
    "doctor.line": "{file} line {line}",
    "doctor.damaged": "{n} unreadable, the rest is fine: {where}; the bytes are kept, mend them by hand",
    "doctor.repeated": "Repeated ids, the later ones go by uid: {refs}",
    "doctor.no_numpy": "No semantic retrieval: numpy is missing; words and graph work",
    "doctor.dead": "Retrieval failed its self-check: {routes}",
    "doctor.asset": "Files of the program were changed: {names}",
    "doctor.not_counted": "Semantic retrieval works; vectors not counted, as the settings can't be used",
    "doctor.meaning": (
        "Semantic retrieval {model} / {dimensions} dimensions / vectors {present}/{total} / index {size}"
    ),
    "doctor.missing": "{missing} of {total} have no vector yet: nebula embed --build",
    "doctor.mood": "Mood source {badge}",
    "doctor.mood_file": "The mood file is not there: {file}",
    "doctor.unknown_settings": "Unknown settings (kept): {keys}",
    "doctor.map": "Star map {file} {size}",
    "doctor.map_none": "Star map not drawn yet",
    "doctor.map_odd": "Something else has the star map's name: {file}",
    "doctor.map_move": "Move it away",
    "doctor.failed": "{check}: the check could not be made: {reason}",
    "doctor.reinstall": "Install nebula-mind again; if that does not help, report this line",
    "demo.start": "A throw-away mind of {n} memories; yours is not touched.",
    "demo.word": "Found by a word:",
    "demo.meaning": "Found by meaning alone, no word in common (no 词#):",
    "demo.explain": "And how it was found:",
    "demo.end": (
        "词# by word, 义# by meaning, 图# by relation; the number is each route's rank. "
        'Your turn: nebula add "…", nebula recall "…"; if something is wrong: nebula doctor'
    ),
}
