"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const stars = data.stars;
  const $ = (id) => document.getElementById(id);
  const canvas = $("sky");
  const pen = canvas.getContext("2d");
  const LEDGERS = ["profile", "notes", "tacts", "promises", "thoughts"];
  const COLOURS = {
    dark: { profile: "#f2c14e", notes: "#7cc4ff", tacts: "#ff8fa3", promises: "#8ce99a", thoughts: "#c9a0ff",
      category: "#e7e9f3", date: "#8fb3d9", edge: "#7f8fc0", core: "#fff3d0" },
    light: { profile: "#a86a00", notes: "#1c6fb8", tacts: "#c2255c", promises: "#2b8a3e", thoughts: "#7048c8",
      category: "#1c2233", date: "#3d6a94", edge: "#8890a8", core: "#7a4d00" },
  };
  const OLD = 0.35; // how much a replaced memory keeps of its light
  const DIMMEST = 0.06;
  const TOOLS = 56; // pixels
  const MANY_EDGES = 6000; // beyond that they wait until a drag ends
  const ZOOM = [0.2, 40];
  const view = { turn: 0, zoom: 1, x: 0, y: 0, ahead: 0, hops: 0, chosen: -1, moving: false };
  let theme = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  let width = 0, height = 0, ratio = 1, lit = null, waiting = false;

  // A = (1 + age / (H / 3)) ^ -1/2, as of `ahead` days from now; 1 for what never dims.
  const retention = (star, ahead = view.ahead) =>
    star.half ? Math.pow(1 + Math.max(0, (star.age || 0) + ahead) / (star.half / 3), -0.5) : 1;
  const light = (star) => Math.max(DIMMEST, retention(star) * (star.old ? OLD : 1));

  const edges = [];
  const joined = stars.map(() => []);
  for (let at = 0; at < data.edges.length; at += 4) {
    const edge = { a: data.edges[at], b: data.edges[at + 1], kind: data.edges[at + 2], cosine: data.edges[at + 3] };
    edges.push(edge);
    if (edge.a >= 0) joined[edge.a].push(edge);
    if (edge.b >= 0) joined[edge.b].push(edge);
  }
  const byRef = new Map(stars.map((star, number) => [star.ref, number]));

  function fit() {
    ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    draw();
  }
  // The tools cover a strip at the bottom: the sky keeps clear of it.
  const scale = () => view.zoom * Math.min(width, height - TOOLS) / 850;
  const centre = () => [width / 2 + view.x, (height - TOOLS) / 2 + view.y];
  function screen(x, y) {
    const s = scale(), cos = Math.cos(view.turn), sin = Math.sin(view.turn);
    const [ox, oy] = centre();
    return [ox + s * (x * cos - y * sin), oy + s * (x * sin + y * cos)];
  }
  const size = (star) => Math.max(0.7, star.r * Math.max(0.35, Math.min(3, scale())));

  function reach() {
    if (view.chosen < 0 || !view.hops) return null;
    let found = new Set([view.chosen]), edge = [...found];
    for (let hop = 0; hop < view.hops; hop++) {
      const next = [];
      for (const number of edge) {
        for (const { a, b } of joined[number]) {
          const other = a === number ? b : a;
          if (other >= 0 && !found.has(other)) { found.add(other); next.push(other); }
        }
      }
      edge = next;
    }
    return found;
  }

  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  function paint() {
    const colours = COLOURS[theme], s = scale(), cos = Math.cos(view.turn) * s, sin = Math.sin(view.turn) * s;
    const [ox, oy] = centre();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const count = stars.length, xs = new Float32Array(count), ys = new Float32Array(count), seen = new Uint8Array(count);
    for (let at = 0; at < count; at++) {
      const star = stars[at], x = ox + star.x * cos - star.y * sin, y = oy + star.x * sin + star.y * cos;
      xs[at] = x;
      ys[at] = y;
      seen[at] = x > -40 && x < width + 40 && y > -40 && y < height + 40 && (!lit || lit.has(at)) ? 1 : 0;
    }
    lines(colours, xs, ys, seen, ox, oy);
    dots(colours, xs, ys, seen);
    pen.globalAlpha = 1;
    pen.fillStyle = colours.core;
    pen.beginPath();
    pen.arc(ox, oy, Math.max(3, 9 * Math.min(2, s)), 0, 2 * Math.PI);
    pen.fill();
    if (view.chosen >= 0) ring(colours, xs[view.chosen], ys[view.chosen], size(stars[view.chosen]) + 4);
  }

  function lines(colours, xs, ys, seen, ox, oy) {
    if (view.moving && edges.length > MANY_EDGES) return;
    let sum = 0, count = 0; // edges fade with the stars they join, all alike: one path costs little
    stars.forEach((star, at) => { if (seen[at] && star.half) { sum += light(star); count++; } });
    const glow = count ? sum / count : 1;
    pen.lineWidth = 0.7;
    pen.strokeStyle = colours.edge;
    for (const chosen of [false, true]) {
      pen.globalAlpha = chosen ? 0.85 : (edges.length > 3000 ? 0.1 : 0.22) * glow;
      pen.beginPath();
      for (const edge of edges) {
        if ((edge.a === view.chosen || edge.b === view.chosen) !== chosen || (chosen && view.chosen < 0)) continue;
        const a = edge.a, b = edge.b;
        if (lit ? !((a < 0 || lit.has(a)) && (b < 0 || lit.has(b))) : !((a >= 0 && seen[a]) || (b >= 0 && seen[b]))) continue;
        pen.moveTo(a < 0 ? ox : xs[a], a < 0 ? oy : ys[a]);
        pen.lineTo(b < 0 ? ox : xs[b], b < 0 ? oy : ys[b]);
      }
      pen.stroke();
    }
  }

  // One path for all stars of a colour and a step of light: thousands of fills would cost ten times as much.
  function dots(colours, xs, ys, seen) {
    const groups = new Map();
    for (let at = 0; at < stars.length; at++) {
      if (!seen[at]) continue;
      const key = stars[at].kind + Math.round(light(stars[at]) * 20);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(at);
    }
    for (const group of groups.values()) {
      const first = stars[group[0]];
      pen.fillStyle = colours[first.kind];
      pen.globalAlpha = Math.round(light(first) * 20) / 20 || DIMMEST;
      pen.beginPath();
      for (const at of group) {
        const r = size(stars[at]);
        pen.moveTo(xs[at] + r, ys[at]);
        pen.arc(xs[at], ys[at], r, 0, 2 * Math.PI);
      }
      pen.fill();
    }
  }

  function ring(colours, x, y, r) {
    pen.strokeStyle = colours.core;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.stroke();
  }

  function starAt(x, y) {
    let best = -1, least = Infinity;
    stars.forEach((star, number) => {
      if (lit && !lit.has(number)) return;
      const [sx, sy] = screen(star.x, star.y);
      const gap = Math.hypot(sx - x, sy - y) - size(star);
      if (gap < 5 && gap < least) { least = gap; best = number; }
    });
    return best;
  }

  const say = (key, facts = {}) => (words[key] || key).replace(/\{(\w+)\}/g, (_, name) => facts[name]);
  const cut = (text, limit) => (text.length > limit ? text.slice(0, limit) + "…" : text);

  // Why two stars are joined, in the words of recall --explain.
  function reason(edge) {
    const a = stars[edge.a], b = stars[edge.b], name = data.kinds[edge.kind];
    if (!a || !b) return name;
    const shared = (a.words || []).filter((word) => (b.words || []).includes(word));
    const said = (one, other) => (one.words || []).filter((word) => word.length > 2 && (other.text || "").includes(word));
    const detail = {
      keywords: () => shared.join("·"),
      content: () => { const x = said(b, a), y = said(a, b); return (x.length >= y.length ? x : y).join("·"); },
      meaning: () => edge.cosine.toFixed(2),
      source: () => `${a.via} ${Math.floor(Math.abs(new Date(a.at) - new Date(b.at)) / 60000)} min`,
      category: () => a.tag || b.tag || a.text,
      date: () => (a.kind === "date" ? a.text : b.text).slice(0, 10),
    }[data.words.kinds.split(" ")[edge.kind]];
    return `${name} ${detail ? detail() : ""}`;
  }

  function choose(number) {
    view.chosen = number;
    if (number < 0) view.hops = 0;
    lit = reach();
    marks();
    $("card").hidden = number < 0;
    if (number >= 0) card(number);
    draw();
  }

  function card(number) {
    const star = stars[number], memory = LEDGERS.includes(star.kind);
    $("card-ref").textContent = memory ? star.ref : say(star.kind);
    const facts = memory
      ? [say(star.kind), star.at.replace("T", " "), star.tag && "#" + star.tag, star.via,
        say("layer" + (star.layer || 0)), "A " + retention(star).toFixed(2), star.old && say("old")]
      : [];
    $("card-facts").textContent = facts.filter(Boolean).join(" · ");
    $("card-text").textContent = star.text;
    $("card-why").textContent = star.why ? say("why") + star.why : "";
    const list = $("card-edges");
    list.replaceChildren();
    for (const edge of joined[number].slice(0, 200)) {
      const other = edge.a === number ? edge.b : edge.a, item = document.createElement("li");
      const there = other < 0 ? { ref: "", text: say("core") } : stars[other];
      item.textContent = `${reason(edge)} → ${LEDGERS.includes(there.kind) ? there.ref + " " : ""}${cut(there.text, 40)}`;
      if (other >= 0) item.addEventListener("click", () => choose(other));
      list.append(item);
    }
  }

  function marks() {
    for (const button of $("hops").children) {
      button.setAttribute("aria-checked", String(Number(button.dataset.hops) === view.hops));
      button.disabled = button.dataset.hops !== "0" && view.chosen < 0;
    }
  }

  function reset() {
    Object.assign(view, { turn: 0, zoom: 1, x: 0, y: 0 });
    draw();
  }

  function zoom(factor, x, y) {
    const next = Math.min(ZOOM[1], Math.max(ZOOM[0], view.zoom * factor)), by = next / view.zoom;
    const [ox, oy] = centre();
    view.x += ((x ?? ox) - ox) * (1 - by);
    view.y += ((y ?? oy) - oy) * (1 - by);
    view.zoom = next;
    draw();
  }

  // Dragging turns the sky about its core, or moves it with shift; two fingers zoom.
  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 1) { event.preventDefault(); reset(); return; }
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) { hover(event); return; }
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (fingers.size === 2) {
      const [one, two] = [...fingers.values()], other = one.pointerId === event.pointerId ? two : one;
      const gap = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      zoom(gap(event) / Math.max(1, gap(before)), (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
    } else if (event.shiftKey) {
      view.x += dx;
      view.y += dy;
    } else {
      const [cx, cy] = centre();
      view.turn += Math.atan2(event.clientY - cy, event.clientX - cx) - Math.atan2(before.clientY - cy, before.clientX - cx);
    }
    fingers.set(event.pointerId, event);
    view.moving = moved > 3;
    draw();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      if (!fingers.delete(event.pointerId)) return;
      if (name === "pointerup" && moved <= 3) choose(starAt(event.clientX, event.clientY));
      view.moving = false;
      draw();
    });
  }
  canvas.addEventListener("auxclick", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX, event.clientY);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => { view.turn -= 0.1; }, ArrowRight: () => { view.turn += 0.1; },
      ArrowUp: () => { view.y += 40; }, ArrowDown: () => { view.y -= 40; },
      "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2), 0: reset, Escape: () => choose(-1),
      n: () => choose((view.chosen + 1) % stars.length), p: () => choose((view.chosen - 1 + stars.length) % stars.length),
      "/": () => $("search").focus(),
    };
    if (!stars.length && "np".includes(event.key)) return;
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); draw(); }
  });

  function hover(event) {
    const number = starAt(event.clientX, event.clientY), tip = $("tip");
    tip.hidden = number < 0;
    canvas.style.cursor = number < 0 ? "grab" : "pointer";
    if (number < 0) return;
    const star = stars[number];
    tip.textContent = (LEDGERS.includes(star.kind) ? star.ref + "  " : "") + cut(star.text, 60);
    tip.style.left = Math.min(event.clientX + 14, width - 330) + "px";
    tip.style.top = event.clientY + 14 + "px";
  }

  $("search").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase(), list = $("found");
    list.replaceChildren();
    if (!wanted) return;
    stars.forEach((star, number) => {
      if (list.children.length >= 30) return;
      if (star.ref.toLowerCase() !== wanted && !(star.text + " " + (star.tag || "")).toLowerCase().includes(wanted)) return;
      const item = document.createElement("li");
      item.textContent = (LEDGERS.includes(star.kind) ? star.ref + " " : "") + cut(star.text, 60);
      item.addEventListener("click", () => choose(number));
      list.append(item);
    });
  });
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && $("found").firstChild) $("found").firstChild.click();
    if (event.key === "Escape") { event.target.value = ""; $("found").replaceChildren(); canvas.focus(); }
  });
  const days = () => { $("ahead-days").textContent = say("days", { n: view.ahead }); };
  $("ahead").addEventListener("input", (event) => {
    view.ahead = Number(event.target.value);
    days();
    if (view.chosen >= 0) card(view.chosen);
    draw();
  });
  $("close").addEventListener("click", () => choose(-1));
  $("reset").addEventListener("click", reset);
  $("theme").addEventListener("click", () => { theme = theme === "light" ? "dark" : "light"; dress(); });

  function dress() {
    document.documentElement.className = theme;
    const legend = $("legend");
    legend.replaceChildren();
    for (const kind of [...LEDGERS, "category", "date"]) {
      const row = document.createElement("div"), dot = document.createElement("i"), name = document.createElement("span");
      dot.style.background = COLOURS[theme][kind];
      name.textContent = `${say(kind)} ${stars.filter((star) => star.kind === kind).length}`;
      row.append(dot, name);
      legend.append(row);
    }
    const memories = stars.filter((star) => LEDGERS.includes(star.kind));
    for (let layer = 0; layer < 5; layer++) {
      const row = document.createElement("div"), dot = document.createElement("i"), name = document.createElement("span");
      dot.style.background = "currentColor";
      dot.style.opacity = [1, 0.8, 0.5, 0.3, 0.15][layer];
      name.textContent = `${say("layer" + layer)} ${memories.filter((star) => (star.layer || 0) === layer).length}`;
      row.append(dot, name);
      legend.append(row);
    }
    draw();
  }

  $("count").textContent = say("count", { stars: stars.length, edges: edges.length, now: data.now.replace("T", " ") });
  $("search").placeholder = say("search");
  $("search").setAttribute("aria-label", say("search"));
  canvas.setAttribute("aria-label", say("help"));
  canvas.title = "";
  $("ahead-name").textContent = say("ahead");
  $("reset").textContent = say("reset");
  $("theme").textContent = say("theme");
  [0, 1, 2].forEach((hops) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.hops = hops;
    button.setAttribute("role", "radio");
    button.textContent = say("hops" + hops);
    button.addEventListener("click", () => { view.hops = hops; lit = reach(); marks(); draw(); });
    $("hops").append(button);
  });
  days();
  marks();
  dress();
  addEventListener("resize", fit);
  fit();
  // What the page shows, for tests and for the curious; nothing here is needed by it.
  window.sky = {
    view, stars, edges, screen: (ref) => screen(stars[byRef.get(ref)].x, stars[byRef.get(ref)].y),
    light: (ref) => retention(stars[byRef.get(ref)]), choose: (ref) => choose(byRef.get(ref)),
    scale,
    lit: () => (lit ? [...lit].map((number) => stars[number].ref).sort() : null), paint,
  };
})();
