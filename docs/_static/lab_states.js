// The first slider of a lab's page: each of its states was made beforehand, and one of them is shown.
document.addEventListener("DOMContentLoaded", () => {
  for (const label of document.querySelectorAll(".lab-slider")) {
    const input = label.querySelector("input");
    const words = JSON.parse(input.dataset.shown);
    const show = () => {
      label.querySelector("output").textContent = words[input.value];
      for (const each of document.querySelectorAll("[data-state]")) each.hidden = each.dataset.state !== input.value;
    };
    input.addEventListener("input", show);
    show();
  }
});
