package io.millrace.launcher.fleet;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.RefusedMessageException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the messages of the outbox in their order. A message is removed when this node has received it from the
 * stream: from then on, its position detects a loss of the message by the servers. After each connection, messages that
 * are not removed are published again; their identifiers let servers recognize them. Confined to the thread of the
 * fleet.
 */
final class Publishing {
    private static final Logger LOG = LoggerFactory.getLogger(Publishing.class);

    /** Limit of published messages that this node has not received. */
    private static final int IN_FLIGHT_MAX = 512;

    private static final int READ_BYTES = 256 << 10;
    /** Received bytes from which on they are removed while later messages wait. */
    private static final long REMOVE_BYTES = 1 << 20;

    private static final long RETRY_MILLIS = 500;

    private final FleetConfig settings;
    private final FleetLink link;
    private final FleetOutboxFile outbox;
    private final FleetState state;
    private final Deque<InFlight> inFlight = new ArrayDeque<>();
    /** Offset after the last line that was published. */
    private long read;
    /** Offset after the last line that this node has received from the stream. */
    private long acknowledged;
    /** Number of the subscription with which the lines in flight were published. */
    private long subscription;
    /** Bytes that were removed from the file since this object exists. */
    private long removed;

    private long retryAt;

    /**
     * A published line.
     *
     * @param end offset after the line, plus the bytes removed before it was read
     * @param localId identifier of the purge on this node; null for a line that is skipped
     */
    private record InFlight(long end, @Nullable String localId, CompletableFuture<Long> sequence) {
        boolean isStored() {
            return sequence.isDone() && !sequence.isCompletedExceptionally();
        }
    }

    Publishing(FleetConfig settings, FleetLink link, FleetOutboxFile outbox, FleetState state) {
        this.settings = settings;
        this.link = link;
        this.outbox = outbox;
        this.state = state;
    }

    /**
     * Publishes new messages and removes received ones. Returns false if there was nothing to do.
     *
     * @param present number of the present subscription
     * @param position the position of this node; null while it does not follow the stream
     */
    boolean step(long present, @Nullable FleetPosition position) throws IOException {
        if (present != subscription) {
            restart();
            subscription = present;
        }
        long size = outbox.size();
        state.figures.outboxBytes.set(Math.max(0, size - acknowledged));
        if (size < read) {
            // The file was deleted.
            restart();
            acknowledged = 0;
            read = 0;
        }
        boolean worked = acknowledge(position);
        if (!link.isConnected() || position == null || state.nowMillis() < retryAt) {
            return worked;
        }
        if (size > read && inFlight.size() < IN_FLIGHT_MAX) {
            publish();
            worked = true;
        }
        if (acknowledged > 0 && ((inFlight.isEmpty() && acknowledged == size) || acknowledged >= REMOVE_BYTES)) {
            outbox.removeBefore(acknowledged);
            removed += acknowledged;
            read -= acknowledged;
            acknowledged = 0;
        }
        return worked;
    }

    private void restart() {
        inFlight.clear();
        read = acknowledged;
    }

    private void publish() throws IOException {
        FleetOutboxFile.Lines lines = outbox.read(read, READ_BYTES);
        for (byte[] line : lines.lines()) {
            if (inFlight.size() >= IN_FLIGHT_MAX) {
                break;
            }
            read += line.length + 1;
            inFlight.add(publish(line, read + removed));
        }
    }

    private InFlight publish(byte[] line, long end) {
        if (line.length == 0) {
            return skipped(end);
        }
        try {
            FleetMessage message = FleetCodec.read(line, settings.node(), settings.name());
            return new InFlight(
                    end, FleetMessage.localId(settings.node(), message.id()), link.publish(line, message.id()));
        } catch (RefusedMessageException e) {
            // The line is of an earlier fleet or node name, or was cut by a power failure before it was answered.
            LOG.warn("{}: a message is not published: {}", outbox, e.text());
            state.figures.refused(e.reason().word());
            return skipped(end);
        }
    }

    private static InFlight skipped(long end) {
        return new InFlight(end, null, CompletableFuture.completedFuture(0L));
    }

    private boolean acknowledge(@Nullable FleetPosition position) {
        for (InFlight one : inFlight) {
            if (one.sequence().isCompletedExceptionally()) {
                LOG.warn("fleet {}: a purge is not published yet: {}", settings.name(), reason(one));
                retryAt = state.nowMillis() + RETRY_MILLIS;
                restart();
                return false;
            }
            String localId = one.localId();
            if (localId != null && one.isStored()) {
                register(localId, one.sequence().join());
            }
        }
        boolean worked = false;
        for (InFlight first = inFlight.peek(); first != null && isReceived(first, position); first = inFlight.peek()) {
            acknowledged = first.end() - removed;
            inFlight.remove();
            worked = true;
        }
        return worked;
    }

    private void register(String localId, long sequence) {
        OwnPurges.Place before = state.own.find(localId);
        OwnPurges.Place place = new OwnPurges.Place(state.created(), sequence);
        if (!place.equals(before)) {
            state.own.add(localId, place);
            state.figures.published.addAndGet(before == null ? 1 : 0);
        }
    }

    private static String reason(InFlight failed) {
        try {
            failed.sequence().join();
            return "";
        } catch (CompletionException | CancellationException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static boolean isReceived(InFlight one, @Nullable FleetPosition position) {
        return one.isStored()
                && (one.localId() == null
                        || (position != null
                                && position.sequence() >= one.sequence().join()));
    }
}
