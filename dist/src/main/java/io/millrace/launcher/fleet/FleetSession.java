package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.FleetLink.Received;
import io.millrace.launcher.fleet.config.NodeConfigState;
import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetService.Outcome;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.fleet.GapCheck;
import io.millrace.proxy.purge.fleet.GapCheck.Gap;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import io.millrace.proxy.purge.fleet.RefusedMessageException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the stream of purges over one connection to NATS. It detects gaps (messages that this node missed), passes
 * messages to the worker, and sends reports about this node. The position is the last message that the worker has
 * applied durably. While the worker applies a batch, the thread of {@link FleetMembership} continues, and publishes new
 * purges. Confined to that thread.
 */
final class FleetSession {
    /** Interval at which the stream is compared with the position. */
    static final long CHECK_MILLIS = 1000;

    /** Number of unapplied messages above which all stored responses are purged before the messages are applied. */
    static final long BEHIND_MAX = 10_000;

    private static final long REPORT_MILLIS = 1000;
    /**
     * Minimum interval between two reports while messages are applied, in milliseconds. If there are more live nodes
     * than this number, the interval is one millisecond per live node.
     */
    private static final long REPORT_QUICK_MILLIS = 20;

    /** Minimum interval between two comparisons with the stream, if a client of the admin API waits for one. */
    private static final long CHECK_QUICK_MILLIS = 20;

    /** Limit of the wait for the worker at the end of the membership. */
    private static final long LEAVE_MILLIS = 2000;

    /**
     * Age of the stream's last message at which the first live node by name adds a message without a purge (a mark).
     * The mark replaces a last message that would expire, so that nodes can compare their positions with the stream.
     */
    static final long MARK_AFTER_MILLIS = 24 * 3600 * 1000L;

    /** Minimum interval between two marks of this node. */
    private static final long MARK_AGAIN_MILLIS = 600_000;
    /**
     * Number of applied messages after which the stream is compared with the position at once, before {@link
     * #CHECK_MILLIS} has passed.
     */
    private static final int RECENT_POSITIONS_MAX = 256;

    /** Time after which a batch is sent again, if the worker refused it because it still applied an earlier one. */
    static final long BUSY_RETRY_MILLIS = 200;

    /** Limit of messages that the worker applies together. */
    private static final int BATCH_MESSAGES = 256;
    /** Limit of the bytes of these messages; a single message may be longer. */
    private static final int BATCH_BYTES = 48 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(FleetSession.class);

    private final FleetConfig settings;
    private final FleetLink link;
    private final WorkerPurges worker;
    private final FleetState state;
    private final FleetOutboxFile outbox;
    private final String instance;
    private final String version;
    private final Runnable wakeUp;

    private ReceivedQueue inbound;
    private @Nullable FleetPosition position;
    /** The batch that the worker applies; null for none. */
    private @Nullable ReceivedBatch applying;
    /** The batch that a busy worker refused, and that is sent again at {@link #retryAt}; null for none. */
    private @Nullable ReceivedBatch delayed;

    private long retryAt;
    /**
     * The end of the stream that this node named in a queued message about lost messages; null if it has queued none
     * since the last subscription.
     */
    private @Nullable FleetPosition queuedLossNotice;

    private boolean positionKnown;
    private boolean following;
    /** Number of the connection over which this node subscribed last; -1 for none. */
    private long connections = -1;
    /** Number of the connection for which the permissions were checked last; -1 for none. */
    private long checkedConnection = -1;

    private long permissionsCheckedAt;
    /**
     * Number that the next message of the subscription must have. If the next message has a higher number, messages are
     * missing.
     */
    private long expected;

    private long subscriptions;
    private long checkedAt;
    /** Number of the last applied message at the latest check; -1 for none. */
    private long appliedAtCheck = -1;

    /** The server that led the stream in the NATS cluster at the latest check, and since when; empty for none. */
    private String leader = "";
    /** The position whose message the latest check found in the stream; null for none. */
    private @Nullable FleetPosition verified;
    /**
     * The position at the latest check, and the positions of messages applied since then. After a new connection, these
     * positions are compared with the stream too. Contains at most {@link #RECENT_POSITIONS_MAX} positions plus one
     * batch.
     */
    private final Deque<FleetPosition> recentPositions = new ArrayDeque<>();
    /**
     * Number of a message that was in the stream when this node last purged all stored responses; -1 if it has not done
     * so.
     */
    private long purgedAllAfter = -1;

    private long markedAt;
    private long reportedAt;
    private long reportedSequence = -1;
    private NodeConfigState reportedConfig = NodeConfigState.OFF;
    private String reportedAddress = "";
    private BooleanSupplier takesRequests = () -> true;
    private OwnMessages ownMessages = (id, at) -> {};

    /** Receives the messages that this node has published and then received back from the stream. */
    @FunctionalInterface
    interface OwnMessages {
        /** Called when the position of this node is at the message or after it. */
        void received(String id, FleetPosition at);
    }

    FleetSession(
            FleetConfig settings,
            FleetLink link,
            WorkerPurges worker,
            FleetState state,
            FleetOutboxFile outbox,
            String version,
            Runnable wakeUp)
            throws IOException {
        this.settings = settings;
        this.link = link;
        this.worker = worker;
        this.state = state;
        this.outbox = outbox;
        this.instance = outbox.instance();
        this.version = version;
        this.wakeUp = wakeUp;
        this.inbound = new ReceivedQueue(wakeUp);
        link.onReport(this::receiveReport);
    }

    /** Sets the receiver of this node's own messages. Call before {@link #step}. */
    void onOwnMessages(OwnMessages receiver) {
        ownMessages = receiver;
    }

    /** Sets the function that returns whether this node takes requests of other nodes. Call before {@link #step}. */
    void onRequests(BooleanSupplier takes) {
        takesRequests = takes;
    }

    /** Returns the number of subscriptions so far; it changes after each connection and each gap. */
    long subscriptions() {
        return subscriptions;
    }

    /** Returns the position of the worker; null while this node does not follow the stream. */
    @Nullable
    FleetPosition position() {
        return following ? position : null;
    }

    /** Returns true if stored responses are validated after a gap, and not purged. */
    private boolean validatesAfterGap() {
        return settings.onGap() == FleetConfig.OnGap.VALIDATE;
    }

    /**
     * Executes one round. Returns false if there was nothing to do, so that the caller waits.
     *
     * @throws IOException if servers or worker do not answer; the next call begins with a check of the position
     * @throws FleetException if the stream cannot be used
     */
    boolean step() throws IOException, FleetException, InterruptedException {
        long now = state.nowMillis();
        if (!link.isConnected()) {
            following = false;
            if (link.isClosed()) {
                throw new FleetException(link.problem());
            }
            state.setDisconnected(link.problem());
            return false;
        }
        try {
            boolean worked = finishBatch();
            sendDelayed(now);
            if (applying == null && delayed == null) {
                if (!following || link.connections() != connections || isCheckDue(now)) {
                    check(now);
                }
                worked |= following && receive();
            }
            report(now, false);
            checkPermissions(now);
            return worked;
        } catch (FleetException e) {
            forgetPosition();
            throw e;
        } catch (IOException e) {
            forgetPosition();
            String refused = link.isConnected() ? link.problem() : "";
            throw refused.isEmpty() ? e : new IOException(refused + "; " + e.getMessage(), e);
        }
    }

    private void forgetPosition() {
        delayed = null;
        following = false;
        positionKnown = false;
    }

    /**
     * Records the permissions that the servers refuse. Requests a new check after each connection, and every second
     * while any permission is refused.
     */
    private void checkPermissions(long now) {
        String refused = link.isConnected() ? link.problem() : "";
        state.setRefusal(refused);
        if (link.connections() != checkedConnection
                || (!refused.isEmpty() && now - permissionsCheckedAt >= REPORT_MILLIS)) {
            checkedConnection = link.connections();
            permissionsCheckedAt = now;
            link.checkPermissions();
        }
    }

    private boolean isCheckDue(long now) {
        long interval = state.isCheckWanted() ? CHECK_QUICK_MILLIS : CHECK_MILLIS;
        return now - checkedAt >= interval || recentPositions.size() >= RECENT_POSITIONS_MAX;
    }

    /**
     * Compares the position with the stream. After a gap, purges all stored responses. Subscribes again if necessary.
     */
    private void check(long now) throws IOException, FleetException, InterruptedException {
        checkedAt = now;
        if (!positionKnown) {
            Outcome lastOutcome = worker.position();
            position = lastOutcome == null ? null : lastOutcome.position();
            positionKnown = true;
            state.figures.lastApplied.set(
                    lastOutcome == null ? 0 : lastOutcome.position().sequence());
        }
        long connection = link.connections();
        StreamState stream = link.state();
        state.figures.newest.set(stream.last());
        boolean mustSubscribe =
                !following || connection != connections || !stream.leader().equals(leader);
        FleetPosition present = position;
        Gap gap = GapCheck.find(present, stream);
        if (gap == null && present != null) {
            gap = verify(present, mustSubscribe);
        }
        if (gap != null && !purgeAfterGap(gap, stream)) {
            return;
        }
        if (gap == null && mustSubscribe && present != null && stream.last() - present.sequence() > BEHIND_MAX) {
            purgeBeforeCatchingUp(present, stream);
        }
        if (gap != null || mustSubscribe || isStuck(stream)) {
            follow(stream, connection);
        }
        FleetPosition reached = position;
        appliedAtCheck = reached == null ? -1 : reached.sequence();
        leader = stream.leader();
        if (following) {
            state.setVerified(now);
            mark(stream, now);
        }
    }

    /**
     * Compares the message at the position with the stream. After a new connection or another leader, the servers may
     * have lost messages and stored other messages under the same numbers.
     */
    private @Nullable Gap verify(FleetPosition present, boolean mustSubscribe) throws IOException {
        if (present.sequence() == 0 || (!mustSubscribe && present.equals(verified))) {
            return null;
        }
        Gap gap = GapCheck.verify(present, link.idAt(present.sequence()));
        if (gap == Gap.UNVERIFIED && !mustSubscribe) {
            // This is no loss: the message has expired since it was applied.
            gap = null;
        }
        for (FleetPosition recent = mustSubscribe && gap == null ? recentPositions.poll() : null;
                recent != null && gap == null;
                recent = recentPositions.poll()) {
            boolean isSame = GapCheck.verify(recent, link.idAt(recent.sequence())) != Gap.REWRITTEN;
            gap = isSame ? null : Gap.REWRITTEN;
        }
        recentPositions.clear();
        recentPositions.add(present);
        verified = gap == null ? present : null;
        return gap;
    }

    /**
     * Queues a message without a purge (a mark) if the last message of the stream is old. Of all live nodes, only the
     * first one by name does this.
     */
    private void mark(StreamState stream, long now) throws IOException {
        if (stream.lastAgeMillis() < MARK_AFTER_MILLIS
                || now - markedAt < MARK_AGAIN_MILLIS
                || !settings.node().equals(state.nodes.firstLive(now))) {
            return;
        }
        markedAt = now;
        appendToOutbox(
                "mark-" + Long.toString(now, Character.MAX_RADIX),
                FleetPurge.of(FleetPurge.Action.MARK, List.of(), true));
    }

    private void appendToOutbox(String localId, FleetPurge purge) throws IOException {
        byte[] line = FleetCodec.write(new FleetMessage(
                settings.name(), settings.node(), instance, FleetMessage.sharedId(settings.node(), localId), purge));
        byte[] withLineFeed = Arrays.copyOf(line, line.length + 1);
        withLineFeed[line.length] = '\n';
        outbox.append(List.of(withLineFeed));
    }

    /** Returns true if messages wait in the stream, but none has arrived since the last check. */
    private boolean isStuck(StreamState stream) {
        FleetPosition present = position;
        return present != null
                && stream.last() > present.sequence()
                && present.sequence() == appliedAtCheck
                && inbound.isEmpty();
    }

    private void follow(StreamState stream, long connection) throws IOException, FleetException {
        FleetPosition from = position;
        if (from == null) {
            return;
        }
        ReceivedQueue next = new ReceivedQueue(wakeUp);
        inbound.end();
        inbound = next;
        expected = from.sequence() + 1;
        subscriptions++;
        // The queued message about lost messages is published from now on, so a later loss needs another message.
        queuedLossNotice = null;
        link.follow(expected, next::put);
        // The subscription is used only if the stream was not created again in the meantime.
        following = link.state().created().equals(stream.created());
        connections = connection;
        if (following) {
            state.setConnected(stream.created());
        }
    }

    /**
     * Purges everything because of a gap, and moves the position to the end of the stream. Returns false if the worker
     * had another position.
     */
    private boolean purgeAfterGap(Gap gap, StreamState stream) throws IOException, InterruptedException {
        String id = stream.last() > 0 && stream.last() >= stream.first() ? link.idAt(stream.last()) : null;
        FleetPosition to = new FleetPosition(stream.created(), stream.last(), id == null ? "" : id);
        FleetPosition before = position;
        if (gap.mayHideLosses() && before != null && before.sequence() > 0) {
            tellOthers(stream, to);
        }
        if (!apply(new FleetBatch(before, to, true, validatesAfterGap(), List.of()))) {
            return false;
        }
        recentPositions.clear();
        recentPositions.add(to);
        verified = null;
        purgedAllAfter = stream.last();
        state.figures.countGap(gap.word());
        String text = outcome() + text(gap, before, stream);
        LOG.warn("fleet {}: {}", settings.name(), text);
        state.event(EventKind.FLEET_GAP, settings.name(), text);
        return true;
    }

    private String outcome() {
        return "all stored responses " + (validatesAfterGap() ? "are validated" : "were purged") + ": ";
    }

    private static String text(Gap gap, @Nullable FleetPosition before, StreamState stream) {
        long applied = before == null ? 0 : before.sequence();
        return switch (gap) {
            case JOINED -> "this node is new in the fleet, or has lost its journal";
            case RECREATED -> "the stream was created again at " + stream.created();
            case TRUNCATED ->
                "the stream has lost messages " + (applied + 1) + " to " + (stream.first() - 1)
                        + " before this node applied them";
            case ROLLED_BACK ->
                "the servers have lost messages: this node has applied " + applied + ", the stream ends at "
                        + stream.last();
            case UNVERIFIED -> "message " + applied + " has expired, so losses of the servers cannot be excluded";
            case REWRITTEN -> "the servers have lost messages: message " + applied + " of the stream is another one";
        };
    }

    /**
     * Queues a message that tells all nodes about lost messages. Nodes that had not applied the lost messages cannot
     * detect the loss themselves.
     */
    private void tellOthers(StreamState stream, FleetPosition to) throws IOException {
        if (to.equals(queuedLossNotice)) {
            // An earlier call has queued this message. The worker then refused the batch, so the check was repeated.
            return;
        }
        String last = Long.toString(stream.last());
        String localId = "lost-" + Long.toString(state.nowMillis(), Character.MAX_RADIX) + "-" + last;
        appendToOutbox(localId, FleetPurge.of(FleetPurge.Action.LOST, List.of(last), validatesAfterGap()));
        queuedLossNotice = to;
    }

    /**
     * Returns true if this node has purged all responses since the sender of the message {@code lost} detected its
     * loss. If several nodes detect the same loss and send such a message, this node therefore purges only once.
     */
    private static boolean isCovered(FleetPurge lost, long purgedAllAfter) {
        try {
            return Long.parseLong(lost.targets().get(0)) < purgedAllAfter;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /** Purges everything first, so that the node serves nothing outdated while it applies many messages. */
    private void purgeBeforeCatchingUp(FleetPosition present, StreamState stream)
            throws IOException, InterruptedException {
        if (apply(new FleetBatch(present, present, true, validatesAfterGap(), List.of()))) {
            purgedAllAfter = stream.last();
            state.figures.countGap("behind");
            state.event(
                    EventKind.FLEET_GAP,
                    settings.name(),
                    outcome() + "this node was " + (stream.last() - present.sequence()) + " messages behind");
        }
    }

    private boolean apply(FleetBatch batch) throws IOException, InterruptedException {
        return moveTo(ReceivedBatch.outcome(worker.apply(batch)));
    }

    /** Moves the position. Returns false if the worker had another position. */
    private boolean moveTo(@Nullable Outcome outcome) {
        if (outcome == null) {
            // Another worker has taken over, and its position differs from the start of the batch.
            positionKnown = false;
            following = false;
            checkedAt = 0;
            return false;
        }
        position = outcome.position();
        state.figures.lastApplied.set(outcome.position().sequence());
        for (String refused : outcome.refused()) {
            state.reportRefusal(RefusedMessageException.Reason.INAPPLICABLE.word(), settings.node(), refused);
        }
        return true;
    }

    /** Moves the position if the worker has applied the batch. Returns false if no batch was applied or refused. */
    private boolean finishBatch() throws IOException, InterruptedException {
        ReceivedBatch batch = applying;
        if (batch == null || !batch.isAnswered()) {
            return false;
        }
        applying = null;
        Outcome outcome;
        try {
            outcome = batch.outcome();
        } catch (WorkerPurges.BusyException e) {
            LOG.debug("fleet {}: {}", settings.name(), e.getMessage());
            delayed = batch;
            retryAt = state.nowMillis() + BUSY_RETRY_MILLIS;
            return false;
        }
        if (moveTo(outcome)) {
            state.figures.received.addAndGet(batch.positions().size());
            purgedAllAfter = Math.max(purgedAllAfter, batch.lastLossNotice());
            recentPositions.addAll(batch.positions());
            batch.own().forEach(at -> ownMessages.received(at.id(), at));
        }
        return true;
    }

    /** Sends the batch again that a busy worker refused, when its time has come. */
    private void sendDelayed(long now) throws IOException, InterruptedException {
        ReceivedBatch batch = delayed;
        if (batch != null && now >= retryAt) {
            delayed = null;
            send(batch.again(worker.apply(batch.sent())));
        }
    }

    private void send(ReceivedBatch batch) throws IOException, InterruptedException {
        applying = batch;
        var unused = batch.answer().whenComplete((outcome, failure) -> wakeUp.run());
        finishBatch();
    }

    /** Passes received messages to the worker. Returns false if there are none. */
    private boolean receive() throws IOException, InterruptedException {
        FleetPosition before = position;
        Received first = inbound.poll();
        if (first == null || before == null) {
            return false;
        }
        List<FleetMessage> messages = new ArrayList<>();
        FleetPosition to = before;
        List<FleetPosition> ownPositions = new ArrayList<>();
        List<FleetPosition> positions = new ArrayList<>();
        long lastLossNotice = -1;
        int bytes = 0;
        for (Received next = first; next != null; next = inbound.poll()) {
            if (next.sequence() > expected) {
                // Messages were lost on the way, or are missing in the stream. The next check determines which is the
                // case.
                following = false;
                break;
            }
            if (next.sequence() == expected) {
                expected++;
                FleetMessage message = readOrRefuse(next);
                to = new FleetPosition(before.created(), next.sequence(), next.id());
                positions.add(to);
                if (message != null && message.instance().equals(instance)) {
                    // The purge is this node's own. This node applied it before it queued the message.
                    ownPositions.add(to);
                } else if (message != null && mustApply(message.purge(), Math.max(purgedAllAfter, lastLossNotice))) {
                    messages.add(message);
                    bytes += next.body().length + 1;
                    if (message.purge().action() == FleetPurge.Action.LOST) {
                        lastLossNotice = next.sequence();
                    }
                }
            }
            Received further = inbound.peek();
            if (positions.size() >= BATCH_MESSAGES
                    || (further != null && bytes + further.body().length > BATCH_BYTES)) {
                break;
            }
        }
        if (!to.equals(before)) {
            state.figures.newest.accumulateAndGet(to.sequence(), Math::max);
            FleetBatch batch = new FleetBatch(before, to, false, validatesAfterGap(), messages);
            send(new ReceivedBatch(batch, positions, ownPositions, lastLossNotice, worker.apply(batch)));
        }
        return true;
    }

    /** Returns true if the worker must apply a purge of another node. */
    private static boolean mustApply(FleetPurge purge, long purgedAllAfter) {
        return switch (purge.action()) {
            case MARK -> false;
            case LOST -> !isCovered(purge, purgedAllAfter);
            default -> true;
        };
    }

    private @Nullable FleetMessage readOrRefuse(Received received) {
        try {
            FleetMessage message = FleetCodec.read(received.body(), received.node(), settings.name());
            if (!received.id().equals(message.id())) {
                throw new RefusedMessageException(
                        RefusedMessageException.Reason.FORGED_NODE,
                        "the message has the id '" + message.id() + "' and was sent with '" + received.id() + "'");
            }
            return message;
        } catch (RefusedMessageException e) {
            state.refusedAt(received.sequence());
            state.reportRefusal(
                    e.reason().word(),
                    received.node(),
                    "message " + received.sequence() + " was not applied: " + e.text());
            return null;
        }
    }

    private NodeReport ownReport(boolean leaving) {
        FleetPosition present = position;
        return new NodeReport(
                settings.name(),
                settings.node(),
                instance,
                settings.tier(),
                leaving ? "" : address(),
                version,
                present == null || !following ? "" : present.created(),
                present == null ? 0 : present.sequence(),
                state.refused(),
                state.config.nodeState(),
                leaving);
    }

    /** Returns the address for requests of other nodes; empty while this node takes none. */
    private String address() {
        RuleUrl address = settings.address();
        return address == null || !takesRequests.getAsBoolean() ? "" : address.authority();
    }

    private void report(long now, boolean leaving) {
        FleetPosition present = position;
        long sequence = present == null ? -1 : present.sequence();
        long quick = Math.max(REPORT_QUICK_MILLIS, state.nodes.live(now));
        NodeConfigState config = state.config.nodeState();
        String address = address();
        boolean isSame =
                sequence == reportedSequence && config.equals(reportedConfig) && address.equals(reportedAddress);
        long interval = isSame ? REPORT_MILLIS : quick;
        if (!leaving && now - reportedAt < interval) {
            return;
        }
        reportedAt = now;
        reportedSequence = sequence;
        reportedConfig = config;
        reportedAddress = address;
        NodeReport report = ownReport(leaving);
        state.nodes.add(report, now);
        link.report(report.bytes());
    }

    /**
     * Ends the session. Waits for the worker if it applies a batch.
     *
     * @param leaving whether the node ends its membership, and tells this to the other nodes
     */
    void end(boolean leaving) throws InterruptedException {
        inbound.end();
        ReceivedBatch last = applying;
        if (last != null && last.awaitAnswer(LEAVE_MILLIS)) {
            try {
                finishBatch();
            } catch (IOException e) {
                LOG.debug("fleet {}: the last messages were not applied", settings.name(), e);
            }
        }
        if (leaving && link.isConnected()) {
            report(state.nowMillis(), true);
        }
    }

    /** Receives a report on a thread of the link. */
    private void receiveReport(String sender, byte[] body) {
        try {
            NodeReport report = NodeReport.read(body, sender, settings.name());
            if (!report.node().equals(settings.node())) {
                state.nodes.add(report, state.nowMillis());
            } else if (!report.instance().equals(instance)) {
                throw new RefusedMessageException(
                        RefusedMessageException.Reason.FORGED_NODE,
                        "another machine has the name '" + sender + "' of this node; change one fleet.node");
            }
        } catch (RefusedMessageException e) {
            state.reportRefusal(e.reason().word(), sender, "a report was refused: " + e.text());
        }
    }
}
