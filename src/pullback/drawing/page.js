const search = document.getElementById("search");
const lines = [...document.querySelectorAll("#operations li")];
const texts = lines.map((line) => line.textContent.toLowerCase());
function show() {
  const words = search.value.toLowerCase().split(/\s+/);
  let found = 0;
  lines.forEach((line, i) => {
    line.hidden = !words.every((word) => texts[i].includes(word));
    found += !line.hidden;
  });
  document.getElementById("count").textContent = found === lines.length ? "" : `${found} of ${lines.length}`;
}
search.addEventListener("input", show);
window.addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.hidden) { search.value = ""; show(); target.scrollIntoView(); }
});
