package io.millrace.store.disk;

import io.netty.buffer.ByteBuf;

/**
 * Says which pins count.
 *
 * <p>Thread-safe.
 */
public interface PinPolicy {
    /** Whether any does. */
    boolean isHonoured();

    /**
     * Whether that of an object counts, that has not ended; else it is not carried for it.
     *
     * @param key the bytes of its key; borrowed
     * @param head its encoded head; borrowed
     */
    boolean isHeld(byte[] key, ByteBuf head);

    /** All do. */
    PinPolicy ALL = new PinPolicy() {
        @Override
        public boolean isHonoured() {
            return true;
        }

        @Override
        public boolean isHeld(byte[] key, ByteBuf head) {
            return true;
        }
    };
}
