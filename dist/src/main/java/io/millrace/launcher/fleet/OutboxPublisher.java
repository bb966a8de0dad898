package io.millrace.launcher.fleet;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.proxy.purge.fleet.FleetOutboxIdentity;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import io.millrace.proxy.purge.fleet.RefusedMessageException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the messages of the outbox (the file of this node's purges for other nodes) in their order. A message is
 * removed from the outbox when this node has received it back from the stream, or has found it in the stream before its
 * own position (the last message that this node has applied). From then on, the check of the position in {@link
 * FleetSession} detects if the servers lose the message. The server's acknowledgement with the number of the message is
 * not sufficient, because the stream may have been created again since then. After each subscription, the messages that
 * are still in the outbox are published again; their identifiers let servers recognize duplicates. Confined to the
 * thread of {@link FleetMembership}.
 */
final class OutboxPublisher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxPublisher.class);

    /** Limit of published messages that this node has not received from the stream yet. */
    private static final int IN_FLIGHT_MAX = 512;

    private static final int READ_BYTES = 256 << 10;
    /**
     * Limit in bytes of received messages in the file. At this limit they are removed, even if later messages still
     * wait.
     */
    private static final long REMOVE_BYTES = 1 << 20;
    /**
     * Divisor of the outbox's maximum size: {@link #REMOVE_BYTES} is limited to the result, so that received messages
     * do not fill a small outbox.
     */
    private static final int REMOVE_PART = 4;
    /**
     * Time after the last publication at which received messages are removed. A removal locks and rewrites the file,
     * so it would delay the next purges.
     */
    static final long REMOVE_AFTER_MILLIS = 200;

    private static final long RETRY_MILLIS = 500;
    /** Time after which the stream is searched for an acknowledged message that this node has not received. */
    private static final long COMPARE_MILLIS = 2000;

    /** Limit of messages that are looked up in one search of the stream. */
    private static final int COMPARE_MAX = 64;

    private final FleetConfig settings;
    private final FleetLink link;
    private final FleetOutboxFile outbox;
    private final FleetOutboxIdentity identity;
    private final FleetState state;
    private final Deque<InFlight> inFlight = new ArrayDeque<>();
    private final Map<String, InFlight> inFlightById = new HashMap<>();
    /** New identifiers of messages that waited under a former name of this node, by their former identifiers. */
    private final Map<String, String> renamedIds = new LinkedHashMap<>();
    /** Offset after the last line that was published. */
    private long publishedOffset;
    /** Offset after the last line that this node has received from the stream. */
    private long receivedOffset;
    /**
     * Number of the subscription during which the lines in flight (published, but not received back) were published.
     */
    private long subscription;
    /** Bytes that were removed from the file since this object was created. */
    private long removedBytes;

    private long publishedAt;
    private long retryAt;
    private long comparedAt;

    /** A published line. */
    private static final class InFlight {
        /** Offset after the line, plus the bytes that were removed before the line was read. */
        final long end;
        /** Identifier of the message in the fleet; null for a line that is skipped. */
        final @Nullable String id;

        final CompletableFuture<Long> sequence;
        boolean received;

        InFlight(long end, @Nullable String id, CompletableFuture<Long> sequence) {
            this.end = end;
            this.id = id;
            this.sequence = sequence;
            received = id == null;
        }

        boolean isStored() {
            return sequence.isDone() && !sequence.isCompletedExceptionally();
        }
    }

    OutboxPublisher(FleetConfig settings, FleetLink link, FleetOutboxFile outbox, FleetState state) {
        this.settings = settings;
        this.link = link;
        this.outbox = outbox;
        this.identity = new FleetOutboxIdentity(outbox);
        this.state = state;
    }

    /**
     * Publishes new messages and removes received ones. Returns false if there was nothing to do.
     *
     * @param present number of the current subscription
     * @param position the position of this node; null while it does not follow the stream
     * @throws IOException if the outbox cannot be read or written, or the servers do not answer
     */
    boolean step(long present, @Nullable FleetPosition position) throws FleetException, IOException {
        if (present != subscription) {
            restart();
            subscription = present;
        }
        boolean isReplaced = identity.hasChanged();
        long size = outbox.size();
        if (isReplaced || size < publishedOffset) {
            receivedOffset = 0;
            restart();
        }
        state.figures.outboxBytes.set(Math.max(0, size - receivedOffset));
        boolean worked = advance();
        if (position != null && link.isConnected()) {
            compare(position);
        }
        if (!link.isConnected() || position == null || state.nowMillis() < retryAt) {
            return worked;
        }
        if (size > publishedOffset && inFlight.size() < IN_FLIGHT_MAX) {
            publish();
            publishedAt = state.nowMillis();
            worked = true;
        }
        boolean isQuiet =
                inFlight.isEmpty() && receivedOffset == size && state.nowMillis() - publishedAt >= REMOVE_AFTER_MILLIS;
        if (isQuiet || receivedOffset >= Math.min(REMOVE_BYTES, settings.outboxBytesMax() / REMOVE_PART)) {
            removeReceived();
        }
        return worked;
    }

    private void removeReceived() throws IOException {
        if (receivedOffset > 0) {
            outbox.removeBefore(receivedOffset);
            // This change is expected: the removal has replaced the file.
            var unused = identity.hasChanged();
            removedBytes += receivedOffset;
            publishedOffset -= receivedOffset;
            receivedOffset = 0;
        }
    }

    /** Removes the messages that this node has received. Call at the end of the membership. */
    void end() throws IOException {
        advance();
        removeReceived();
    }

    /** Closes the file. Messages that are not removed stay in it. */
    @Override
    public void close() {
        try {
            identity.close();
        } catch (IOException e) {
            LOG.debug("{} cannot be closed", outbox, e);
        }
    }

    private void restart() {
        inFlight.clear();
        inFlightById.clear();
        publishedOffset = receivedOffset;
    }

    private void publish() throws IOException {
        FleetOutboxFile.Lines lines = outbox.read(publishedOffset, READ_BYTES);
        for (byte[] line : lines.lines()) {
            if (inFlight.size() >= IN_FLIGHT_MAX) {
                break;
            }
            publishedOffset += line.length + 1;
            InFlight next = publish(line, publishedOffset + removedBytes);
            inFlight.add(next);
            if (next.id != null) {
                inFlightById.put(next.id, next);
            }
        }
    }

    private InFlight publish(byte[] line, long end) {
        if (line.length == 0) {
            return skipped(end);
        }
        try {
            FleetMessage read = FleetCodec.read(line);
            boolean isRenamed = !read.node().equals(settings.node());
            FleetMessage message = isRenamed ? renamed(read) : read;
            FleetCodec.check(message, settings.node(), settings.name());
            byte[] body = isRenamed ? FleetCodec.write(message) : line;
            return new InFlight(end, message.id(), link.publish(body, message.id()));
        } catch (RefusedMessageException e) {
            // The line is of another fleet, or was truncated by a power failure before its purge was confirmed.
            LOG.warn("{}: a message is not published: {}", outbox, e.text());
            state.figures.countRefused(e.reason().word());
            return skipped(end);
        }
    }

    /**
     * Returns a message of this node's former name under its present name. If the message undoes or cancels a renamed
     * purge, it refers to the new identifier of that purge.
     */
    private FleetMessage renamed(FleetMessage message) {
        String localId = FleetMessage.localId(message.node(), message.id());
        if (localId == null) {
            return message;
        }
        if (renamedIds.isEmpty()) {
            LOG.info(
                    "{}: purges that waited under the former node name {} are published as {}",
                    outbox,
                    message.node(),
                    settings.node());
        }
        String id = FleetMessage.sharedId(settings.node(), localId);
        renamedIds.put(message.id(), id);
        if (renamedIds.size() > OwnPurges.MAX) {
            renamedIds.remove(renamedIds.keySet().iterator().next());
        }
        FleetPurge purge = message.purge();
        boolean isChange = purge.action() == FleetPurge.Action.UNDO || purge.action() == FleetPurge.Action.CANCEL;
        String target = isChange ? renamedIds.get(purge.targets().get(0)) : null;
        return new FleetMessage(
                message.fleet(),
                settings.node(),
                message.instance(),
                id,
                target == null ? purge : FleetPurge.change(purge.action(), target));
    }

    private static InFlight skipped(long end) {
        return new InFlight(end, null, CompletableFuture.completedFuture(0L));
    }

    /** Drops the received lines from the queue. Publishes all lines again later if a publication failed. */
    private boolean advance() {
        for (InFlight one : inFlight) {
            if (one.sequence.isCompletedExceptionally() && !one.received) {
                LOG.warn("fleet {}: a purge is not published yet: {}", settings.name(), reason(one));
                retryAt = state.nowMillis() + RETRY_MILLIS;
                restart();
                return false;
            }
        }
        boolean worked = false;
        for (InFlight first = inFlight.peek(); first != null && first.received; first = inFlight.peek()) {
            receivedOffset = first.end - removedBytes;
            inFlight.remove();
            if (first.id != null) {
                inFlightById.remove(first.id);
            }
            worked = true;
        }
        return worked;
    }

    /** Marks a message that this node has received back from the stream. */
    void received(String id, FleetPosition at) {
        register(id, at);
        InFlight one = inFlightById.get(id);
        if (one != null) {
            one.received = true;
        }
    }

    private void register(String id, FleetPosition at) {
        String localId = FleetMessage.localId(settings.node(), id);
        if (localId != null && state.ownPurges.add(localId, at.created(), at.sequence())) {
            state.figures.published.incrementAndGet();
        }
    }

    /**
     * Searches the stream for acknowledged messages that this node has not received. Either the subscription begins
     * after these messages, because of a gap, or the servers have lost them.
     */
    private void compare(FleetPosition position) throws FleetException, IOException {
        InFlight first = inFlight.peek();
        long now = state.nowMillis();
        if (first == null || first.received || !first.isStored()) {
            comparedAt = now;
            return;
        }
        boolean isPassed = position.sequence() >= first.sequence.join();
        if (now - comparedAt < (isPassed ? RETRY_MILLIS : COMPARE_MILLIS)) {
            return;
        }
        comparedAt = now;
        Map<InFlight, @Nullable String> ids = idsInStream(first, position);
        // The state is read after the search. If it still shows the same stream, the search was in this stream.
        StreamState stream = link.state();
        if (!stream.created().equals(position.created())) {
            // The stream was created again. The session detects this, and then all messages are published again.
            return;
        }
        ids.forEach((one, id) -> {
            long sequence = one.sequence.join();
            // A message before the first one in the stream counts as stored. The stream has removed it by now, and
            // nodes that have not applied it detect this gap.
            boolean isInStream = id == null ? sequence < stream.first() : id.equals(one.id);
            if (!isInStream) {
                LOG.warn("fleet {}: the servers have lost a purge, which is published again", settings.name());
                restart();
            } else if (position.sequence() >= sequence && one.id != null) {
                received(one.id, new FleetPosition(position.created(), sequence, one.id));
                comparedAt = 0;
            }
        });
    }

    private Map<InFlight, @Nullable String> idsInStream(InFlight first, FleetPosition position) throws IOException {
        Map<InFlight, @Nullable String> ids = new LinkedHashMap<>();
        for (InFlight one : inFlight) {
            boolean isSearched = one.equals(first) || (one.isStored() && position.sequence() >= one.sequence.join());
            if (!isSearched || ids.size() >= COMPARE_MAX) {
                break;
            }
            if (!one.received) {
                ids.put(one, link.idAt(one.sequence.join()));
            }
        }
        return ids;
    }

    private static String reason(InFlight failed) {
        try {
            failed.sequence.join();
            return "";
        } catch (CompletionException | CancellationException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
