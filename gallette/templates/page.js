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
// Controls of a lesson: one state of the run is seen at a time. A live page asks for the others.
function setUpControl(control) {
  const buttons = [...(control.querySelector(":scope > .switch")?.children || [])];
  const slider = control.querySelector(":scope > .slide input");
  const labels = [...control.querySelectorAll(":scope > div > .label")].map((label) => label.textContent);
  const states = [...control.querySelectorAll(":scope > .state")];
  const compute = async (state, i) => {
    const lesson = control.closest("[data-lesson]").dataset;
    state.removeAttribute("data-missing");
    state.innerHTML = '<p class="faint" role="status">computing…</p>';
    const answer = await fetch(`${lesson.lesson}.part?driver=${lesson.driver}&control=${control.dataset.number}&state=${i}`);
    state.innerHTML = answer.ok ? await answer.text() : "<p>This cannot be computed.</p>";
    state.querySelectorAll(".control").forEach(setUpControl);
    state.querySelectorAll("figure img").forEach((image) => image.addEventListener("load", () => fit(image)));
  };
  const show = (chosen) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen)));
    if (slider) {
      slider.setAttribute("aria-valuetext", labels[chosen]);
      slider.nextElementSibling.textContent = labels[chosen];
    }
    states.forEach((state, i) => { state.hidden = i !== chosen; });
    if ("missing" in states[chosen].dataset) compute(states[chosen], chosen);
    states[chosen].querySelectorAll("figure img").forEach(fit);
  };
  slider?.addEventListener("input", () => show(Number(slider.value)));
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
document.querySelectorAll(".control").forEach(setUpControl);
// What the reader has predicted and finished is kept in the browser.
const course = {
  read() {
    try { return JSON.parse(localStorage.getItem("gallette course")) || {}; } catch { return {}; }
  },
  write(key, value) {
    try { localStorage.setItem("gallette course", JSON.stringify({ ...this.read(), [key]: value })); } catch { /* private windows keep nothing */ }
  },
};
document.querySelectorAll("fieldset.predict").forEach((box, number) => {
  const key = `${box.closest("[data-lesson]")?.dataset.lesson} ${number}`;
  const choices = [...box.querySelectorAll("input")];
  const button = box.querySelector("button");
  const commit = (chosen) => {
    const right = Number(box.dataset.right);
    choices.forEach((choice, i) => {
      choice.checked = i === chosen;
      choice.disabled = true;
      choice.parentElement.classList.toggle("right", i === right);
    });
    button.hidden = true;
    box.querySelector(".verdict").textContent = chosen === right ? "So it is." : "The run says otherwise.";
    box.querySelector(".answer").hidden = false;
  };
  choices.forEach((choice) => choice.addEventListener("change", () => { button.disabled = false; }));
  button.addEventListener("click", () => {
    const chosen = choices.findIndex((choice) => choice.checked);
    course.write(key, chosen);
    commit(chosen);
  });
  if (key in course.read()) commit(course.read()[key]);
});
for (const box of document.querySelectorAll("[data-done]")) {
  box.checked = Boolean(course.read()[box.dataset.done]);
  box.addEventListener("change", () => course.write(box.dataset.done, box.checked));
}
for (const line of document.querySelectorAll("[data-finished-of]")) {
  const listed = [...document.querySelectorAll("[data-listed]")];
  const done = listed.filter((item) => course.read()[item.dataset.listed] === true);
  done.forEach((item) => item.classList.add("finished"));
  line.textContent = `${done.length} of ${line.dataset.finishedOf} lessons finished`;
}
for (const line of document.querySelectorAll("[data-waiting]")) {
  const ask = async () => {
    const answer = await fetch(location.pathname.replace(/html$/, "json") + location.search);
    const told = await answer.json();
    if (told === "") return location.reload();
    line.textContent = `Computing: ${told} …`;
    setTimeout(ask, 300);
  };
  ask();
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
