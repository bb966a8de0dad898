package io.millrace.store.disk;

/** The operating state of a volume. */
public enum VolumeState {
    /** The volume's index is being rebuilt: a lookup may miss stored records. */
    OPENING,
    /** The volume reads and writes. */
    ONLINE,
    /**
     * The volume's lease (its lock) was released. Records remain readable: the next owner does not overwrite segments
     * that the volume's reader list contains.
     */
    RELEASED,
    /** The volume's lease was released. Only records in segments that a reader has pinned can still be read. */
    SUSPENDED,
    /** The volume was taken out of use after errors. */
    OFFLINE,
    /** The volume is closed. */
    CLOSED;

    /** Returns true if records can be found and written. */
    public boolean isWorking() {
        return this == OPENING || this == ONLINE;
    }

    /** Returns true if records can be found and read. */
    public boolean isReadable() {
        return isWorking() || this == RELEASED;
    }

    /** Returns true if a volume may change from this state to {@code next}. */
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
