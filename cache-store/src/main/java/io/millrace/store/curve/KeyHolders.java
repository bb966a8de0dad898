package io.millrace.store.curve;

/** Counts the caches that hold a key, and removes keys without a holder. */
final class KeyHolders {
    private final SampledKeys keys;
    private final GroupCounts groups;

    KeyHolders(SampledKeys keys, GroupCounts groups) {
        this.keys = keys;
        this.groups = groups;
    }

    void retain(SampledKey key) {
        key.holders++;
    }

    void release(SampledKey key) {
        key.holders--;
        if (key.holders == 0) {
            keys.remove(key);
            groups.removeKey(key.group);
        }
    }
}
