package io.millrace.proxy.purge.fleet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queues the purges of this node durably until they are published to the fleet. The launcher (the parent process)
 * publishes them. A writer thread appends waiting messages in batches, with one fsync per batch.
 *
 * <p>Thread-safe. Three methods block: {@link #close}, the first call of {@link #instance}, and {@link #add} after the
 * close.
 */
public final class FleetOutbox implements AutoCloseable {
    /** The fleet state in the answer to a purge that the other nodes have not applied yet. */
    public static final String PENDING = "pending";

    /** Limit of messages in memory that wait to be written; further purges fail. */
    private static final int WAITING_MAX = 1 << 16;

    /** Limit of messages that are written with one fsync. */
    private static final int BATCH_MAX = 1024;
    /** Time without work after which the writer thread ends. */
    private static final long IDLE_SECONDS = 10;

    private static final long CLOSE_SECONDS = 5;

    private static final Logger log = LoggerFactory.getLogger(FleetOutbox.class);

    private final @Nullable FleetOutboxFile file;
    private final Supplier<@Nullable Member> member;
    private final ThreadPoolExecutor writer;
    private final ConcurrentLinkedQueue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile long size;
    private volatile String instance = "";

    /**
     * The membership in force. Immutable.
     *
     * @param fleet name of the fleet
     * @param node name of this node
     * @param bytesMax limit of the file, in bytes
     */
    public record Member(String fleet, String node, long bytesMax) {}

    /** Receives the outcome of {@link #add}. */
    @FunctionalInterface
    public interface Reply {
        /** Called once, with null when the message is durable, otherwise with the failure. */
        void onQueued(@Nullable IOException failure);
    }

    private record Waiting(Member member, String localId, FleetPurge purge, Executor replyOn, Reply reply) {}

    private FleetOutbox(@Nullable Path directory, Supplier<@Nullable Member> member) {
        this.file = directory == null ? null : new FleetOutboxFile(directory);
        this.member = member;
        writer = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread thread = new Thread(work, "millrace-outbox");
            thread.setDaemon(true);
            return thread;
        });
        writer.allowCoreThreadTimeOut(true);
    }

    /** Returns an outbox of a proxy without a fleet. */
    public static FleetOutbox none() {
        return new FleetOutbox(null, () -> null);
    }

    /**
     * Creates the outbox in a directory.
     *
     * @param member returns the membership in force; null without a fleet
     */
    public static FleetOutbox in(Path directory, Supplier<@Nullable Member> member) {
        return new FleetOutbox(directory, member);
    }

    /** Returns true if this proxy can be a member of a fleet, because its launcher reads the outbox. */
    public boolean hasFile() {
        return file != null;
    }

    /** Returns true if purges are shared with a fleet. */
    public boolean isActive() {
        return file != null && member.get() != null;
    }

    /** Returns the name of this node; null without a fleet. */
    public @Nullable String node() {
        Member present = file == null ? null : member.get();
        return present == null ? null : present.node();
    }

    /** Returns the random identifier of the outbox directory, as in {@link FleetMessage}. Blocks at the first call. */
    public String instance() throws IOException {
        if (instance.isEmpty() && file != null) {
            instance = file.instance();
        }
        return instance;
    }

    /** Returns true if {@link #instance} does not block any more. */
    public boolean isInstanceKnown() {
        return file == null || !instance.isEmpty();
    }

    /** Returns the reason why a purge must be refused now; null if the outbox accepts it. */
    public @Nullable String refusal(FleetPurge purge) {
        Member present = file == null ? null : member.get();
        if (present == null) {
            return null;
        }
        if (size > present.bytesMax() || waitingCount.get() >= WAITING_MAX) {
            refreshSize();
            return "the outbox of the fleet is full (fleet.outbox_size, " + present.bytesMax()
                    + " bytes): the NATS servers do not accept purges; nothing was purged";
        }
        FleetMessage sample = new FleetMessage(present.fleet(), present.node(), "0".repeat(16), "0".repeat(96), purge);
        int length = FleetCodec.write(sample).length;
        return length <= FleetCodec.MESSAGE_BYTES_MAX
                ? null
                : "the purge needs a message of " + length + " bytes to the fleet, and the limit is "
                        + FleetCodec.MESSAGE_BYTES_MAX + "; divide it; nothing was purged";
    }

    private void refreshSize() {
        FleetOutboxFile present = file;
        if (present != null && writer.getQueue().isEmpty()) {
            try {
                writer.execute(() -> {
                    try {
                        size = present.size();
                    } catch (IOException e) {
                        log.debug("{}: the length is not known: {}", present, e.toString());
                    }
                });
            } catch (RejectedExecutionException e) {
                log.debug("the outbox is closed");
            }
        }
    }

    /**
     * Queues a purge for the fleet.
     *
     * @param localId identifier of the message, unique on this node: the identifier of the purge. For another action
     *     on a purge, a prefix such as {@code undo-} precedes the identifier
     */
    public void add(FleetPurge purge, String localId, Executor replyOn, Reply reply) {
        Member present = file == null ? null : member.get();
        if (present == null) {
            replyOn.execute(() -> reply.onQueued(null));
            return;
        }
        Waiting one = new Waiting(present, localId, purge, replyOn, reply);
        if (waitingCount.incrementAndGet() > WAITING_MAX) {
            waitingCount.decrementAndGet();
            answer(one, new IOException("too many purges wait for the outbox: limit=" + WAITING_MAX));
            return;
        }
        waiting.add(one);
        schedule();
    }

    private void schedule() {
        if (!scheduled.compareAndSet(false, true)) {
            return;
        }
        try {
            writer.execute(this::writeWaiting);
        } catch (RejectedExecutionException e) {
            // The outbox is closed, so this thread writes the message.
            writeWaiting();
        }
    }

    private void writeWaiting() {
        scheduled.set(false);
        List<Waiting> batch = new ArrayList<>();
        for (Waiting one = waiting.poll(); one != null; one = batch.size() < BATCH_MAX ? waiting.poll() : null) {
            batch.add(one);
        }
        waitingCount.addAndGet(-batch.size());
        if (batch.isEmpty()) {
            return;
        }
        IOException failure = null;
        try {
            write(batch);
        } catch (IOException | RuntimeException e) {
            log.error("{}: purges cannot be queued for the fleet: {}", file, e.toString());
            failure = new IOException(e.getMessage(), e);
        }
        for (Waiting one : batch) {
            answer(one, failure);
        }
        if (!waiting.isEmpty()) {
            schedule();
        }
    }

    private void write(List<Waiting> batch) throws IOException {
        FleetOutboxFile present = file;
        if (present == null) {
            return;
        }
        String from = instance();
        List<byte[]> lines = new ArrayList<>(batch.size());
        for (Waiting one : batch) {
            Member sender = one.member();
            byte[] line = FleetCodec.write(new FleetMessage(
                    sender.fleet(),
                    sender.node(),
                    from,
                    FleetMessage.sharedId(sender.node(), one.localId()),
                    one.purge()));
            byte[] withLineFeed = Arrays.copyOf(line, line.length + 1);
            withLineFeed[line.length] = '\n';
            lines.add(withLineFeed);
        }
        size = present.append(lines);
    }

    private static void answer(Waiting one, @Nullable IOException failure) {
        try {
            one.replyOn().execute(() -> one.reply().onQueued(failure));
        } catch (RejectedExecutionException e) {
            log.debug("the client of a purge disconnected before the purge was queued for the fleet");
        }
    }

    /** Writes the waiting messages. Blocks for at most 5 s. */
    @Override
    public void close() {
        writer.shutdown();
        try {
            if (!writer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.warn(
                        "at shutdown, purges wait for the fleet's queue and may not reach other nodes: waiting={}",
                        waitingCount.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
