for (const range of document.querySelectorAll(".slider-box input")) {
  const slider = range.parentElement.querySelector(".slider");
  range.addEventListener("input", () => slider.style.setProperty("--cut", range.value + "%"));
}
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
