package io.millrace.proxy.purge.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/** Keeps the records of purges in memory, for a proxy without a state directory. Thread-safe. */
final class PurgeLogInMemory implements PurgeLog {
    /** Limit of lines of one purge: the purge, its undo and its count. */
    private static final int LINES_PER_PURGE = 3;

    private final IntSupplier purgesMax;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<String> lines = new ArrayDeque<>();

    PurgeLogInMemory(IntSupplier purgesMax) {
        this.purgesMax = purgesMax;
    }

    @Override
    public void append(List<byte[]> added) {
        lock.lock();
        try {
            for (byte[] line : added) {
                lines.add(new String(line, 0, line.length - 1, StandardCharsets.UTF_8));
            }
            while (lines.size() > (long) LINES_PER_PURGE * purgesMax.getAsInt()) {
                lines.remove();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void visit(Consumer<String> visitor) {
        lock.lock();
        try {
            lines.forEach(visitor);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "memory";
    }
}
