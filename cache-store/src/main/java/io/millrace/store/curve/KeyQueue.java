package io.millrace.store.curve;

/**
 * A doubly linked list of key ids, in arrays that all lists of one simulated cache share. Confined to the
 * thread that computes the curve of hit ratios.
 */
final class KeyQueue {
    /** The links of all lists of one cache. A key is in at most one of them. */
    static final class Links {
        final int[] next;
        final int[] previous;

        /**
         * Creates links for ids below the capacity.
         *
         * @param lists number of lists, which have the numbers from 0
         */
        Links(int capacity, int lists) {
            next = new int[capacity + lists];
            previous = new int[capacity + lists];
        }
    }

    private final Links links;
    /** Index of this list's sentinel in the links. */
    private final int head;

    private long bytes;

    KeyQueue(Links links, int capacity, int number) {
        this.links = links;
        head = capacity + number;
        links.next[head] = head;
        links.previous[head] = head;
    }

    void addFirst(SampledKey key) {
        int second = links.next[head];
        links.next[head] = key.id;
        links.previous[key.id] = head;
        links.next[key.id] = second;
        links.previous[second] = key.id;
        bytes += key.size;
    }

    void remove(SampledKey key) {
        int before = links.previous[key.id];
        int after = links.next[key.id];
        links.next[before] = after;
        links.previous[after] = before;
        bytes -= key.size;
    }

    boolean isEmpty() {
        return links.next[head] == head;
    }

    /** Returns the id of the oldest key. The list must not be empty. */
    int last() {
        return links.previous[head];
    }

    void addBytes(int more) {
        bytes += more;
    }

    long bytes() {
        return bytes;
    }
}
