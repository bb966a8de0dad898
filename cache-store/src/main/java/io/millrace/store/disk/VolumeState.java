package io.millrace.store.disk;

/** The operating state of a volume. */
public enum VolumeState {
    /** Its index is being rebuilt: a lookup may miss stored records. */
    OPENING,
    /** The volume reads and writes. */
    ONLINE,
    /** Its lease was released. Records can still be found and read, because the next owner overwrites none of them. */
    RELEASED,
    /** Its lease was released. Pinned records can still be read. */
    SUSPENDED,
    /** Out of use after errors. */
    OFFLINE,
    /** Closed. */
    CLOSED;

    /** Returns true if records can be found and written. */
    public boolean isWorking() {
        return this == OPENING || this == ONLINE;
    }

    /** Returns true if records can be found and read. */
    public boolean isReadable() {
        return isWorking() || this == RELEASED;
    }

    /** Returns true if a volume may change from this state to the next. */
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
