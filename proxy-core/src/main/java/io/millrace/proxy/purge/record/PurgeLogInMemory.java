package io.millrace.proxy.purge.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/** A log in memory for a proxy without a state directory. Thread-safe. */
final class PurgeLogInMemory implements PurgeLog {
    private final IntSupplier linesMax;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<String> lines = new ArrayDeque<>();

    PurgeLogInMemory(IntSupplier linesMax) {
        this.linesMax = linesMax;
    }

    @Override
    public void append(List<byte[]> added) {
        lock.lock();
        try {
            for (byte[] line : added) {
                lines.add(new String(line, 0, line.length - 1, StandardCharsets.UTF_8));
            }
            while (lines.size() > linesMax.getAsInt()) {
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
}
