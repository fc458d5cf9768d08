import { Component, type ReactNode } from "react"
import { Failure } from "./Failure.tsx"

interface Props {
  readonly children: ReactNode
  /** The address of the page: at another one, the failure is gone. */
  readonly place?: string
}

interface State {
  readonly error: unknown
  readonly place: string | undefined
}

/** Shows a page that fails as such, and not as nothing. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined, place: this.props.place }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps({ place }: Props, state: State) {
    return place === state.place ? null : { error: undefined, place }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return <Failure error={this.state.error} retry={() => this.setState({ error: undefined })} />
  }
}
