"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const say = (key, facts = {}) => (data.words[key] || key).replace(/\{(\w+)(?::[^}]*)?\}/g, (_, name) => facts[name]);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, kind) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (kind) e.className = kind; return e; };
  const COLOURS = { happy: "#f2c14e", calm: "#8ce99a", sweet: "#ff9ecb", heartache: "#ff6b6b", worry: "#66d9e8", sad: "#74a9ff", jealous: "#a9e34b" };
  const LAYERS = "recall.layer_weights";

  async function ask(path, body) {
    const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(path, { credentials: "same-origin", ...options });
    const found = await answer.json().catch(() => ({}));
    $("problem").textContent = answer.ok ? "" : found.error || say("panel.refused");
    if (!answer.ok) throw new Error(String(answer.status));
    if (found.notices) $("notices").textContent = found.notices.join(" ");
    return found;
  }

  // The token stands in the address once, is changed into a cookie and taken out of sight.
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (token) await ask("/session", { token }).catch(() => {});

  function show(side) {
    for (const name of ["stars", "mood"]) {
      $(name).hidden = name !== side;
      $("to-" + name).setAttribute("aria-pressed", String(name === side));
    }
  }

  let redraw = 0;
  function drawn() {
    clearTimeout(redraw);
    redraw = setTimeout(() => { $("map").src = "/map?" + Date.now(); }, 250);
  }

  async function recall() {
    const query = $("query").value.trim(), list = $("hits");
    if (!query) { list.replaceChildren(); return; }
    const { hits } = await ask("/api/recall", { query });
    list.replaceChildren();
    for (const hit of hits) {
      const item = make("li", hit.text);
      const moved = hit.before === null ? say("panel.new") : hit.before === hit.now ? "=" : `${hit.before} → ${hit.now}`;
      item.prepend(make("small", `${hit.now}  ${hit.ref}  ${hit.score.toFixed(3)}  ${hit.label}  ${moved}`));
      list.append(item);
    }
    if (!hits.length) list.append(make("li", say("panel.nothing")));
  }

  function slider(key, at, value, opened, [least, most, step]) {
    const box = make("label", undefined, "slider"), name = make("span", at === null ? key : `${key} ${say("map.layer" + at)}`);
    const shown = make("output"), input = make("input");
    Object.assign(input, { type: "range", min: least, max: most, step, value });
    input.dataset.key = at === null ? key : `${key}.${at}`;
    const tell = () => { shown.textContent = String(Math.round(Number(input.value) * 100) / 100); box.classList.toggle("changed", Number(input.value) !== opened); };
    input.addEventListener("input", tell);
    input.addEventListener("change", async () => {
      const list = [...document.querySelectorAll(`[data-key^="${LAYERS}."]`)].map((one) => Number(one.value));
      await ask("/api/set", at === null ? { key, value: Number(input.value) } : { key, value: list }).catch(() => refresh());
      drawn();
      recall();
    });
    tell();
    box.append(name, shown, input);
    return box;
  }

  const bar = (name, share, value, colour) => {
    const row = make("div", undefined, "bar"), track = make("i"), fill = make("b");
    fill.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
    if (colour) fill.style.background = colour;
    track.append(fill);
    row.append(make("span", name), track, make("u", value));
    return row;
  };

  function mood(felt) {
    const gauge = $("gauge");
    gauge.replaceChildren(document.createTextNode(String(Math.round(felt.value))));
    gauge.append(make("small", felt.label ? (COLOURS[felt.label] ? say("dim." + felt.label) : felt.label) : say("mood.ground")));
    gauge.append(make("em", felt.source + (felt.stale ? " " + say("mood.stale") : ""), felt.stale ? "stale" : ""));
    $("why").textContent = (felt.reason ? say("mood.why") + felt.reason : "") + (felt.unresolved ? "  " + say("mood.unresolved") : "");
    $("expression").replaceChildren(...Object.entries(felt.expression).map(([name, v]) => bar(say("dim." + name), v, v.toFixed(2))));
    $("levels").replaceChildren(make("h3", say("panel.levels")),
      ...Object.entries(felt.levels).map(([name, v]) => bar(say("dim." + name), v / 100, v.toFixed(0), "#9aa3bf")));
    $("both").replaceChildren(make("h3", say("panel.both")), ...data.dims.filter((dim) => dim in felt.surface).map((dim) =>
      bar(say("dim." + dim), felt.surface[dim], `${felt.surface[dim].toFixed(2)} / ${felt.underlying[dim].toFixed(2)}`, COLOURS[dim])));
    petals(felt.dims);
  }

  function petals(dims) {
    const picture = $("petals"), svg = (tag, facts) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(facts)) e.setAttribute(name, value);
      return e;
    };
    picture.replaceChildren(svg("circle", { r: 90, fill: "none", stroke: "currentColor", "stroke-opacity": 0.15 }));
    data.dims.forEach((dim, at) => {
      const angle = (at / data.dims.length) * 360, length = 8 + 82 * (dims[dim] || 0);
      const petal = svg("path", { d: `M0 0 C ${length * 0.45} ${-length * 0.6}, ${length * 0.3} ${-length}, 0 ${-length} C ${-length * 0.3} ${-length}, ${-length * 0.45} ${-length * 0.6}, 0 0`,
        transform: `rotate(${angle})`, fill: COLOURS[dim], "fill-opacity": 0.75, "data-dim": dim, "data-length": length });
      const name = svg("text", { x: 110 * Math.sin((angle * Math.PI) / 180), y: 4 - 108 * Math.cos((angle * Math.PI) / 180) });
      name.textContent = say("dim." + dim);
      picture.append(petal, name);
    });
  }

  async function refresh() {
    const state = await ask("/api/state");
    const box = $("sliders");
    box.replaceChildren();
    for (const [key, range] of Object.entries(data.sliders)) {
      const value = state.settings[key], opened = state.opened[key];
      if (key === LAYERS) value.forEach((one, at) => box.append(slider(key, at, one, opened[at], range)));
      else box.append(slider(key, null, value, opened, range));
    }
    $("layers").replaceChildren(make("h3", say("panel.layers")));
    const counts = state.layers, most = Math.max(1, ...counts);
    counts.forEach((count, at) => $("layers").append(bar(say("map.layer" + at), count / most, String(count))));
    $("kind").value = state.provider;
    mood(state.mood);
  }

  $("to-stars").textContent = say("panel.stars");
  $("to-mood").textContent = say("panel.mood");
  $("query").placeholder = say("panel.query");
  $("felt").textContent = say("panel.feel");
  $("choose").textContent = say("panel.choose");
  $("reason").placeholder = say("panel.reason");
  $("place").placeholder = say("panel.place");
  for (const dim of data.dims) { const one = make("option", say("dim." + dim)); one.value = dim; $("dim").append(one); }
  for (const kind of ["builtin", "file", "http"]) { const one = make("option", kind); one.value = kind; $("kind").append(one); }
  $("to-stars").addEventListener("click", () => show("stars"));
  $("to-mood").addEventListener("click", () => show("mood"));
  let typing = 0;
  $("query").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(recall, 300); });
  $("felt").addEventListener("click", async () => mood(await ask("/api/feel", { dim: $("dim").value, strength: Number($("strength").value), why: $("reason").value })));
  $("choose").addEventListener("click", async () => mood(await ask("/api/source", { kind: $("kind").value, place: $("place").value.trim() })));
  show("stars");
  await refresh();
  $("map").src = "/map";
  setInterval(async () => { if (!$("mood").hidden) mood((await ask("/api/state")).mood); }, 5000);
})();
