import { createRoot } from "react-dom/client"
import { App } from "./shell/App.tsx"
import "./console.css"

createRoot(document.getElementById("console")!).render(<App />)
