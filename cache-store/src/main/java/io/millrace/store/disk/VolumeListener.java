package io.millrace.store.disk;

/** Is told of changes; called on any thread of the store. */
public interface VolumeListener {
    /** A segment was filled: time to force the file. */
    void segmentSealed(Volume volume);

    /** The index is whole from now on. */
    void opened(Volume volume);

    /** The volume was given up. */
    void offline(Volume volume);

    /** An object's newest record lies at {@code location} from now on. On the volume's thread. */
    void stored(Volume volume, long hashHigh, long hashLow, long location);

    /**
     * Nothing is appended any more; reads still work, and the lease is held until this returns. On the volume's
     * thread.
     *
     * @param forGood whether the volume is closed, not handed over
     */
    void stopping(Volume volume, boolean forGood);
}
