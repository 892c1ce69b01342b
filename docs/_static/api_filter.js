// Filters the index of the API by a part of a name and by feedback; without scripts, all names are shown.
document.addEventListener("DOMContentLoaded", () => {
  const name = document.getElementById("api-name");
  const feedback = document.getElementById("api-feedback");
  const count = document.getElementById("api-count");
  if (!name || !feedback) return;
  const filter = () => {
    let total = 0;
    for (const part of document.querySelectorAll(".api-part")) {
      let shown = 0;
      for (const row of part.querySelectorAll("tr")) {
        const named = row.textContent.toLowerCase().includes(name.value.trim().toLowerCase());
        const kind = !feedback.value || row.dataset.feedback.split(" ").includes(feedback.value);
        row.hidden = !(named && kind);
        shown += !row.hidden;
      }
      part.hidden = !shown;
      total += shown;
    }
    count.textContent = `${total} names`;
  };
  name.addEventListener("input", filter);
  feedback.addEventListener("change", filter);
  filter();
});
