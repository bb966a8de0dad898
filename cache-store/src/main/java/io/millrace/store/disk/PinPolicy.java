package io.millrace.store.disk;

import io.netty.buffer.ByteBuf;

/**
 * The policy that decides which pins apply.
 *
 * <p>Thread-safe.
 */
public interface PinPolicy {
    /** Returns true if pins are honoured at all. */
    boolean isHonoured();

    /**
     * Returns true if the pin of an object, which has not expired, applies at reclaim.
     *
     * @param key the bytes of its key; borrowed
     * @param head its encoded head; borrowed
     */
    boolean isHeld(byte[] key, ByteBuf head);

    /** The policy under which every pin applies. */
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
