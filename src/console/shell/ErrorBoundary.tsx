import { Component, type ReactNode } from "react"
import { Failure } from "./Failure.tsx"

interface Props {
  readonly children: ReactNode
}

/** Shows a page that fails as such, and not as nothing. */
export class ErrorBoundary extends Component<Props, { readonly error: unknown }> {
  override state = { error: undefined as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return <Failure error={this.state.error} retry={() => this.setState({ error: undefined })} />
  }
}
