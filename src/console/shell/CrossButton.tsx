interface Props {
  /** What screen readers say. */
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

/** A cross that closes or removes what it stands next to. */
export const CrossButton = ({ disabled, label, onClick }: Props) => (
  <button type="button" className="quiet" aria-label={label} disabled={disabled} onClick={onClick}>
    ✕
  </button>
)
