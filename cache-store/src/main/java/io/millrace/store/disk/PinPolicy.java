package io.millrace.store.disk;

import io.netty.buffer.ByteBuf;

/**
 * Decides which pins of objects the reclaimer honours. A pin makes the volume keep an object until a given time. It is
 * not a pin of {@link io.millrace.store.disk.segment.SegmentPins}, which lasts while a reader uses a segment.
 *
 * <p>Thread-safe.
 */
public interface PinPolicy {
    /** Returns false if the reclaimer ignores all pins. */
    boolean isHonoured();

    /**
     * Returns true if the unexpired pin of an object protects the object from reclaim.
     *
     * @param key the bytes of the object's key; borrowed
     * @param head the object's encoded head; borrowed
     */
    boolean staysPinned(byte[] key, ByteBuf head);

    /** The policy under which every pin applies. */
    PinPolicy ALL = new PinPolicy() {
        @Override
        public boolean isHonoured() {
            return true;
        }

        @Override
        public boolean staysPinned(byte[] key, ByteBuf head) {
            return true;
        }
    };
}
