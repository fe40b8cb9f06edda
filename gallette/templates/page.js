// A link to something folded away opens it.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", unfold);
addEventListener("load", unfold);
// Pictures are shown at whole multiples of their size, or a pixel would be as wide as two.
function fit(image) {
  const room = image.parentElement.clientWidth; // none while it is folded away
  if (!image.naturalWidth || !room) return;
  const zoom = Math.max(1, Math.min(Math.floor(room / image.naturalWidth), Math.ceil(256 / image.naturalWidth)));
  image.style.width = zoom * image.naturalWidth + "px";
}
for (const image of document.querySelectorAll("figure img")) {
  fit(image);
  image.addEventListener("load", () => fit(image));
}
document.addEventListener("toggle", (event) => event.target.querySelectorAll("figure img").forEach(fit), true);
for (const box of document.querySelectorAll(".filter")) {
  const rows = document.querySelectorAll(box.dataset.rows);
  let only = "";
  const apply = () => {
    const text = box.querySelector("input").value.toLowerCase();
    for (const row of rows) {
      const shown = row.dataset.name.includes(text) && (!only || row.dataset.results.split(" ").includes(only));
      row.hidden = !shown;
    }
  };
  box.querySelector("input").addEventListener("input", apply);
  for (const button of box.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      only = only === button.value ? "" : button.value;
      for (const other of box.querySelectorAll("button")) other.classList.toggle("on", other.value === only);
      apply();
    });
  }
}
// Switches of a lesson: one recorded state is seen at a time; arrow keys go through them.
for (const flip of document.querySelectorAll(".flip")) {
  const buttons = [...flip.querySelector(":scope > .switch").children];
  const states = [...flip.querySelectorAll(":scope > .state")];
  const show = (chosen) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen)));
    states.forEach((state, i) => { state.hidden = i !== chosen; });
    states[chosen].querySelectorAll("figure img").forEach(fit);
  };
  buttons.forEach((button, i) => {
    button.addEventListener("click", () => show(i));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (i + step + buttons.length) % buttons.length;
      buttons[next].focus();
      show(next);
    });
  });
}
// Source, NIR and code side by side: lines made for one source line are marked together.
for (const section of document.querySelectorAll(".mapped")) {
  let kept = "";
  const mark = (line, from) => {
    for (const old of section.querySelectorAll(".lit")) old.classList.remove("lit");
    if (!line) return;
    for (const same of section.querySelectorAll(`[data-line="${line}"]`)) same.classList.add("lit");
    if (!from) return;
    for (const pane of section.querySelectorAll(".pane")) { // the first of them comes into view
      if (pane.contains(from)) continue;
      const first = [...pane.querySelectorAll(".lit")].find((e) => e.offsetParent);
      const box = first && first.closest("pre");
      if (box) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    }
  };
  const lineOf = (event) => event.target.closest("[data-line]")?.dataset.line || "";
  section.addEventListener("pointerover", (event) => mark(lineOf(event) || kept));
  section.addEventListener("pointerleave", () => mark(kept));
  section.addEventListener("click", (event) => {
    const line = lineOf(event);
    if (!line) return;
    kept = kept === line ? "" : line;
    mark(kept, event.target.closest("[data-line]"));
  });
  for (const pane of section.querySelectorAll(".steps")) {
    const forms = [...pane.querySelectorAll(".form")];
    const choice = pane.querySelector("select");
    choice.addEventListener("change", () => {
      forms.forEach((form, i) => { form.hidden = i !== choice.selectedIndex; });
    });
  }
}
