package io.millrace.proxy.extension;

import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogTarget;
import io.millrace.proxy.observe.log.LoggedRecord;
import io.millrace.proxy.spi.log.AccessLogSink;
import io.millrace.proxy.spi.log.AccessRecord;
import io.millrace.proxy.spi.log.AccessRecords;
import io.millrace.proxy.spi.log.AccessText;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The target of an access log whose records an extension receives. Each buffer of copied records is passed in one call.
 * The records of a failed call are lost.
 *
 * <p>Threads as for {@link LogTarget}.
 */
final class SinkTarget implements LogTarget {
    private final String name;
    private final @Nullable LoadedExtension extension;
    private final int sampleRate;
    private int lost;
    /** Held while {@link #caller} changes or is interrupted, so that no work after a call is interrupted. */
    private final ReentrantLock callerLock = new ReentrantLock();
    /** The thread that calls the extension now; null outside of calls. Guarded by the lock. */
    private @Nullable Thread caller;

    /**
     * @param extension null if no extension of this name receives records: then the target cannot be opened
     * @param sampleRate N, if the log contains one of every N requests
     */
    SinkTarget(String name, @Nullable LoadedExtension extension, int sampleRate) {
        this.name = name;
        this.extension = extension;
        this.sampleRate = sampleRate;
    }

    @Override
    public String description() {
        return "extension " + name;
    }

    @Override
    public void maintain(long nowMillis) throws IOException {
        if (extension == null) {
            throw new IOException("no open extension of this name implements AccessLogSink");
        }
    }

    @Override
    public boolean isAtStart() {
        return false;
    }

    @Override
    public void write(ByteBuffer copies) throws IOException {
        LoadedExtension sink = extension;
        if (sink == null) {
            throw new IOException("write() was called before maintain() has opened the target");
        }
        Batch batch = new Batch(copies);
        lost = batch.size();
        copies.position(copies.limit());
        if (!sink.admits(Hook.ACCESS_LOG)) {
            return;
        }
        long began = System.nanoTime();
        calledBy(Thread.currentThread());
        try {
            ((AccessLogSink) sink.extension()).records(batch);
            lost = 0;
            sink.succeeded(Hook.ACCESS_LOG);
        } catch (Throwable e) {
            sink.failed(Hook.ACCESS_LOG, e);
        } finally {
            calledBy(null);
            // Clear a late interrupt of this call. It would interrupt the next target and close the file channel of
            // that target.
            Thread.interrupted();
            batch.end();
            sink.figures(Hook.ACCESS_LOG).called(System.nanoTime() - began);
        }
    }

    private void calledBy(@Nullable Thread thread) {
        callerLock.lock();
        try {
            caller = thread;
        } finally {
            callerLock.unlock();
        }
    }

    @Override
    public int lostLines() {
        return lost;
    }

    /** Interrupts a call in progress on another thread. */
    @Override
    public void close() {
        callerLock.lock();
        try {
            Thread now = caller;
            if (now != null && now != Thread.currentThread()) {
                now.interrupt();
            }
        } finally {
            callerLock.unlock();
        }
    }

    /** The records of one call, and the current record. Confined to the thread of the log. */
    private final class Batch implements AccessRecords, AccessRecord {
        private static final String[] PROTOCOLS = {"http/1.0", "http/1.1", "http/2"};
        private static final LogField[] FIELDS = Arrays.stream(AccessText.values())
                .map(text -> LogField.valueOf(text.name()))
                .toArray(LogField[]::new);

        private final int size;
        private LoggedRecord.@Nullable Copies copies;
        private @Nullable LoggedRecord current;

        Batch(ByteBuffer buffer) {
            LoggedRecord.Copies all = new LoggedRecord.Copies(buffer);
            copies = all;
            size = all.size();
        }

        void end() {
            copies = null;
            current = null;
        }

        @Override
        public int size() {
            return size;
        }

        @Override
        public @Nullable AccessRecord next() {
            LoggedRecord.Copies all = copies;
            if (all == null) {
                throw new IllegalStateException("the records are valid only during the call of the hook");
            }
            current = all.next();
            return current == null ? null : this;
        }

        private LoggedRecord logged() {
            LoggedRecord now = current;
            if (now == null) {
                throw new IllegalStateException("a record is valid only until the next one, and only during the call");
            }
            return now;
        }

        @Override
        public long receivedAtMillis() {
            return logged().receivedAtMillis();
        }

        @Override
        public long durationNanos() {
            return logged().durationNanos();
        }

        @Override
        public long firstByteNanos() {
            return logged().firstByteNanos();
        }

        @Override
        public int status() {
            return logged().status();
        }

        @Override
        public int originStatus() {
            return logged().originStatus();
        }

        @Override
        public long headBytes() {
            return logged().headBytes();
        }

        @Override
        public long bodyBytes() {
            return logged().bodyBytes();
        }

        @Override
        public long receivedBytes() {
            return logged().receivedBytes();
        }

        @Override
        public @Nullable String protocol() {
            return switch (logged().majorVersion()) {
                case 1 -> PROTOCOLS[logged().minorVersion()];
                case 2 -> PROTOCOLS[2];
                default -> null;
            };
        }

        @Override
        public String cacheResult() {
            return logged().cacheResult().word();
        }

        @Override
        public String resultCode() {
            return logged().resultCode();
        }

        @Override
        public boolean isFromRam() {
            return logged().isFromRam();
        }

        @Override
        public boolean isCollapsed() {
            return logged().isCollapsed();
        }

        @Override
        public boolean isSecure() {
            return logged().isSecure();
        }

        @Override
        public @Nullable InetAddress clientAddress() {
            byte[] address = logged().clientBytes();
            try {
                return address == null ? null : InetAddress.getByAddress(address);
            } catch (UnknownHostException e) {
                throw new IllegalStateException("an address has 4 or 16 bytes", e);
            }
        }

        @Override
        public int sampleRate() {
            return sampleRate;
        }

        @SuppressWarnings("EnumOrdinal") // used only within the process
        private LogField field(AccessText text) {
            return FIELDS[text.ordinal()];
        }

        @Override
        public @Nullable String text(AccessText text) {
            return logged().text(field(text));
        }

        @Override
        public @Nullable ByteBuffer bytes(AccessText text) {
            return logged().textBytes(field(text));
        }

        @Override
        public boolean isTruncated(AccessText text) {
            return logged().isTruncated(field(text));
        }
    }
}
