// Runs before the page is painted, so that it never flashes in the other colours.
const { dataset } = document.documentElement
const theme = localStorage.getItem("waypost-theme")
if (theme === "light" || theme === "dark") dataset.theme = theme
dataset.sample = localStorage.getItem("waypost-sample") === "ts" ? "ts" : "curl"
