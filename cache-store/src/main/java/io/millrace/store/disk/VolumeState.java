package io.millrace.store.disk;

/** Whether a volume works. */
public enum VolumeState {
    /** Its index is being rebuilt: what it does not find may be there all the same. */
    OPENING,
    /** It reads and writes. */
    ONLINE,
    /** Its lease was given back; records are still found and read, since the next owner overwrites none of them. */
    RELEASED,
    /** Its lease was given back; pinned records can still be read. */
    SUSPENDED,
    /** Given up after errors. */
    OFFLINE,
    /** Closed. */
    CLOSED;

    /** Whether records can be found and written. */
    public boolean isWorking() {
        return this == OPENING || this == ONLINE;
    }

    /** Whether records can be found and read. */
    public boolean isReadable() {
        return isWorking() || this == RELEASED;
    }

    /** Whether a volume may go from this state to the next. */
    boolean mayBecome(VolumeState next) {
        return switch (this) {
            case OPENING -> next != OPENING && next != RELEASED;
            case ONLINE -> next != OPENING && next != ONLINE;
            case OFFLINE -> next == SUSPENDED || next == CLOSED;
            case RELEASED -> next == SUSPENDED || next == CLOSED;
            case SUSPENDED -> next == CLOSED;
            case CLOSED -> false;
        };
    }
}
