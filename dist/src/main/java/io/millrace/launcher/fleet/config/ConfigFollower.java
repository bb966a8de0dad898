package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import io.millrace.launcher.history.TrafficSample;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.observe.event.EventKind;
import java.io.IOException;
import java.security.PublicKey;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the revision that the head names for this node, and decides about canaries together with the other nodes. The
 * head is the entry of the shared store that names the revision in force. A canary is a revision that only some nodes
 * apply at first; it passes or fails by the verdicts of these nodes about their own traffic. The node that pushed a
 * revision has no special part in the decision, so the decision does not depend on that node. Confined to the thread of
 * the fleet.
 */
public final class ConfigFollower {
    /** Interval at which the head is read, unless a report of another node names a later revision. */
    static final long POLL_MILLIS = 5000;

    /** Minimum interval between two reads of the head. */
    static final long POLL_QUICK_MILLIS = 100;

    /** Interval at which the head is read during a canary, and while it lacks a revision that a node has reported. */
    static final long POLL_AGAIN_MILLIS = 1000;

    /** Interval at which a canary is observed. */
    static final long OBSERVE_MILLIS = 500;

    /** A canary fails if a canary node gives no verdict within twice the observation time plus this time. */
    static final long SILENCE_MILLIS = 30_000;

    private static final long LONG_AGO = Long.MIN_VALUE / 2;

    private static final Logger LOG = LoggerFactory.getLogger(ConfigFollower.class);

    /** The requests that the serving worker has answered so far. Blocks. */
    @FunctionalInterface
    public interface Traffic {
        TrafficSample sample() throws IOException, InterruptedException;
    }

    /** The other nodes of the fleet. */
    public interface Members {
        /** Returns true if this node is the first live node by name. */
        boolean isFirst();

        /** Returns the highest number of a revision that a node has reported. */
        long newest();
    }

    private final String fleet;
    private final String node;
    private final ConfigStore store;
    private final RevisionStore revisions;
    private final Verdicts verdicts;
    private final PublicKey key;
    private final KeptRevision kept;
    private final ConfigTargets targets;
    private final Traffic traffic;
    private final Members members;
    private final ConfigState state;

    private long polledAt = LONG_AGO;
    /** Highest revision that a node had reported before the head was read last. */
    private long polledFor;

    /** Version of the head entry that was read last, accepted or not; 0 to read the entry again. */
    private long readVersion;

    /**
     * Value of that entry. It is compared too, since a store that was created again counts versions from the beginning.
     */
    private byte[] readValue = {};

    /** Whether this node has read a head that the servers still have. */
    private boolean hasHead;

    /** True if the entry that was read last was refused. The store then contains another head than {@link #head}. */
    private boolean isRefused;

    private @Nullable ConfigHead head;
    /** Version of the entry with the head. */
    private long headVersion;
    /** The revision that is being applied, with its result. */
    private @Nullable Applying applying;

    /** True if a rejected revision is to be tried again. */
    private boolean mustRetry = true;
    /** Why the revision could not be applied for now; empty unless it is tried again. */
    private String delayReason = "";

    private long observedAt = LONG_AGO;
    /** Number of the canary revision that this node has seen last; 0 for none. */
    private long canaryRevision;

    /** Time at which this node first read the canary revision. */
    private long canaryKnownAt;
    /** True if this node has given its verdict about the canary revision. */
    private boolean hasVerdict;

    /** Number of the revision whose requests are observed. */
    private long observedRevision;

    /** Start of the observation. */
    private long observedSince;

    /** The requests that the worker had answered before the start of the observation. */
    private TrafficSample beforeObservation = TrafficSample.none();
    /** Number of the latest rolled-back revision that this node has reported; 0 for none. */
    private long reportedFailure;

    private record Applying(SignedRevision signed, @Nullable String text, CompletableFuture<List<String>> result) {}

    public ConfigFollower(
            String fleet,
            String node,
            ConfigStore store,
            PublicKey key,
            KeptRevision kept,
            ConfigTargets targets,
            Traffic traffic,
            Members members,
            ConfigState state) {
        this.fleet = fleet;
        this.node = node;
        this.store = store;
        this.key = key;
        this.kept = kept;
        this.targets = targets;
        this.traffic = traffic;
        this.members = members;
        this.state = state;
        revisions = new RevisionStore(store);
        verdicts = new Verdicts(store);
        ConfigHead currentHead = state.head();
        reportedFailure = currentHead == null ? 0 : currentHead.failed();
        hasHead = currentHead != null;
        publishNodeState();
    }

    /** Makes the next step read the head, and try a rejected revision again. Call after a reload of the local file. */
    public void retry() {
        mustRetry = true;
        readVersion = 0;
        polledAt = LONG_AGO;
    }

    /**
     * Executes one round.
     *
     * @param now time of a monotonic clock, in milliseconds
     * @throws IOException if the servers do not answer
     */
    public void step(long now) throws IOException, InterruptedException {
        Applying running = applying;
        if (running != null) {
            if (!running.result().isDone()) {
                return;
            }
            finishApplying(running, now);
        }
        ConfigHead currentHead = head;
        if (now - polledAt >= interval(currentHead)) {
            polledAt = now;
            polledFor = members.newest();
            readHead(now);
        }
        currentHead = head;
        if (currentHead != null
                && currentHead.isCanary()
                && !isRefused
                && applying == null
                && now - observedAt >= OBSERVE_MILLIS) {
            observedAt = now;
            observe(currentHead, now);
        }
    }

    /** Returns the time between two reads of the head: less if a node has just reported a later revision. */
    private long interval(@Nullable ConfigHead currentHead) {
        if (!delayReason.isEmpty()) {
            return POLL_MILLIS;
        }
        long newest = members.newest();
        boolean isBehind =
                newest > (currentHead == null ? 0 : currentHead.current().revision());
        if (isBehind && newest != polledFor) {
            return POLL_QUICK_MILLIS;
        }
        return isBehind || (currentHead != null && currentHead.isCanary()) ? POLL_AGAIN_MILLIS : POLL_MILLIS;
    }

    private void readHead(long now) throws IOException {
        ConfigStore.Entry entry = store.get(ConfigHead.KEY);
        if (entry == null) {
            forgetHead();
            return;
        }
        if (entry.version() == readVersion && Arrays.equals(entry.value(), readValue)) {
            return;
        }
        readVersion = entry.version();
        readValue = entry.value();
        isRefused = true;
        try {
            ConfigHead next = ConfigHead.read(entry.value());
            next.verify(key, fleet);
            if (next.current().revision() < kept.highest()) {
                throw older(next.current());
            }
            head = next;
            hasHead = true;
            headVersion = entry.version();
            isRefused = false;
            state.head(next);
            reportFailure(next);
            if (next.isCanary() && next.current().revision() != canaryRevision) {
                canaryRevision = next.current().revision();
                canaryKnownAt = now;
                hasVerdict = false;
            }
            SignedRevision forThisNode = next.of(node);
            if (forThisNode != null) {
                forThisNode.verify(key, fleet);
                begin(forThisNode);
            }
        } catch (RefusedRevisionException e) {
            LOG.error("fleet {}: {}", fleet, e.text());
            state.refuse(fleet, e);
            // Perhaps not all parts of the content have reached this server yet, so the entry is read again.
            readVersion = e.reason() == Reason.CONTENT ? 0 : readVersion;
        } catch (IOException e) {
            readVersion = 0;
            throw e;
        }
        publishNodeState();
    }

    /** Forgets the head that the servers have lost. The revision of this node stays in force until the next push. */
    private void forgetHead() {
        readVersion = 0;
        if (!hasHead) {
            return;
        }
        hasHead = false;
        head = null;
        isRefused = false;
        state.head(null);
        String text = "the NATS servers have lost the configuration; this node keeps revision " + targets.revision()
                + "; push the configuration again";
        LOG.warn("fleet {}: {}", fleet, text);
        state.event(EventKind.FLEET_CONFIG_FAILED, fleet, text);
        publishNodeState();
    }

    private RefusedRevisionException older(SignedRevision signed) {
        return new RefusedRevisionException(
                Reason.OLDER,
                "revision " + signed.revision() + " is older than revision " + kept.highest()
                        + ", which this node has had; push the configuration again");
    }

    private void reportFailure(ConfigHead next) {
        if (next.failed() != 0 && next.failed() != reportedFailure) {
            reportedFailure = next.failed();
            state.count("rolled-back");
            state.event(
                    EventKind.FLEET_CONFIG_FAILED,
                    fleet,
                    "revision " + next.failed() + " was rolled back: " + next.reason());
        }
    }

    /** Begins to apply a revision, unless it is in force or was rejected. */
    private void begin(SignedRevision forThisNode) throws IOException, RefusedRevisionException {
        long revision = forThisNode.revision();
        SignedRevision last = kept.applied();
        if (revision < kept.highest()) {
            throw older(forThisNode);
        }
        boolean isSame = last != null && last.equals(forThisNode);
        if (last != null && last.revision() == revision && !isSame) {
            throw older(forThisNode);
        }
        boolean isInForce = isSame
                && (targets.revision() == revision || !forThisNode.statement().hasContent());
        if (isInForce || (kept.rejected() == revision && !mustRetry)) {
            mustRetry = false;
            delayReason = "";
            return;
        }
        mustRetry = false;
        String hash = forThisNode.statement().content();
        String text = forThisNode.statement().hasContent() ? revisions.content(hash) : null;
        CompletableFuture<List<String>> result = targets.apply(
                        revision, text == null ? null : new Pushed(revision, text))
                .toCompletableFuture();
        applying = new Applying(forThisNode, text, result);
    }

    private void finishApplying(Applying done, long now) throws InterruptedException {
        applying = null;
        long revision = done.signed().revision();
        List<String> problems;
        try {
            problems = done.result().join();
        } catch (CompletionException | CancellationException e) {
            tryAgain(revision, e.getCause() == null ? e : e.getCause(), now);
            return;
        }
        delayReason = "";
        if (problems.isEmpty()) {
            changeStateFiles(() -> kept.applied(done.signed(), done.text()), revision);
            state.count(NodeConfigState.APPLIED);
            state.event(EventKind.FLEET_CONFIG, fleet, "revision " + revision + " is in force on this node");
            if (done.signed().statement().canary().contains(node)) {
                beginObservation(revision, now);
            }
        } else {
            String why = problems.get(0);
            changeStateFiles(() -> kept.rejected(revision, why), revision);
            state.count(NodeConfigState.REJECTED);
            LOG.error("fleet {}: this node rejects revision {}: {}", fleet, revision, problems.get(0));
            state.event(
                    EventKind.FLEET_CONFIG_FAILED,
                    fleet,
                    "this node rejects revision " + revision + ": " + problems.get(0));
        }
        publishNodeState();
    }

    /** Applies a revision again after a time. Nothing was found wrong with it, so it is not rejected. */
    private void tryAgain(long revision, Throwable cause, long now) {
        String why = String.valueOf(cause instanceof AdminException refused ? refused.message() : cause.getMessage());
        if (!why.equals(delayReason)) {
            LOG.warn("fleet {}: revision {} is applied again after a failure: {}", fleet, revision, why);
        }
        delayReason = why;
        mustRetry = true;
        readVersion = 0;
        polledAt = now;
        publishNodeState();
    }

    /** A change of the files of {@link KeptRevision} in the state directory. */
    @FunctionalInterface
    private interface StateFileChange {
        void run() throws IOException;
    }

    private void changeStateFiles(StateFileChange change, long revision) {
        try {
            change.run();
        } catch (IOException e) {
            LOG.error(
                    "fleet {}: revision {} cannot be written to the state directory: {}",
                    fleet,
                    revision,
                    e.getMessage());
            state.event(
                    EventKind.FLEET_CONFIG_FAILED,
                    fleet,
                    "revision " + revision + " cannot be written to the state directory: " + e.getMessage());
        }
    }

    /**
     * Begins to count the requests under a revision. If the figures of the worker cannot be read, a later call tries
     * again.
     */
    private void beginObservation(long revision, long now) throws InterruptedException {
        try {
            beforeObservation = traffic.sample();
            observedRevision = revision;
            observedSince = now;
        } catch (IOException e) {
            LOG.debug("no figures of the worker", e);
        }
    }

    private void publishNodeState() {
        ConfigHead currentHead = head;
        Applying running = applying;
        SignedRevision last = kept.applied();
        long inForce = targets.revision();
        long newest = Math.max(
                kept.highest(), currentHead == null ? 0 : currentHead.current().revision());
        NodeConfigState next;
        if (running != null) {
            next = new NodeConfigState(inForce, newest, NodeConfigState.PENDING, "is being applied");
        } else if (!delayReason.isEmpty()) {
            next = new NodeConfigState(
                    inForce, newest, NodeConfigState.PENDING, "is applied again after a failure: " + delayReason);
        } else if (kept.rejected() != 0) {
            next = new NodeConfigState(inForce, newest, NodeConfigState.REJECTED, kept.reason());
        } else if (currentHead != null
                && currentHead.isCanary()
                && !currentHead.current().statement().canary().contains(node)) {
            String waits = "waits for the canary on "
                    + String.join(", ", currentHead.current().statement().canary());
            next = new NodeConfigState(inForce, newest, NodeConfigState.PENDING, waits);
        } else if (last == null) {
            next = new NodeConfigState(0, newest, NodeConfigState.LOCAL, "no revision was applied");
        } else if (!last.statement().hasContent()) {
            next = new NodeConfigState(
                    last.revision(), newest, NodeConfigState.APPLIED, "the local file, without a revision");
        } else {
            next = new NodeConfigState(inForce, newest, NodeConfigState.APPLIED, "");
        }
        state.nodeState(next);
    }

    /** Gives the verdict of this node, and decides about the canary if the verdicts suffice. */
    private void observe(ConfigHead currentHead, long now) throws IOException, InterruptedException {
        RevisionStatement statement = currentHead.current().statement();
        boolean isCanaryNode = statement.canary().contains(node);
        if (isCanaryNode && !hasVerdict) {
            giveVerdict(statement, now);
        }
        // Possibly the first node does not share the configuration, and so never decides. Therefore each node decides
        // after the time limit.
        if (isCanaryNode || members.isFirst() || now - canaryKnownAt >= limitMillis(statement)) {
            decide(currentHead, statement, now);
        }
    }

    /** Returns the time after which a canary node without a verdict makes a canary fail. */
    private static long limitMillis(RevisionStatement statement) {
        return 2 * TimeUnit.SECONDS.toMillis(statement.seconds()) + SILENCE_MILLIS;
    }

    private void giveVerdict(RevisionStatement statement, long now) throws IOException, InterruptedException {
        if (kept.rejected() == statement.revision()) {
            verdicts.put(statement.revision(), node, "rejected the revision: " + kept.reason());
            hasVerdict = true;
            return;
        }
        SignedRevision last = kept.applied();
        if (last == null || last.revision() != statement.revision()) {
            return;
        }
        if (observedRevision != statement.revision()) {
            // A launcher that was restarted, or has connected again, begins a new observation.
            beginObservation(statement.revision(), now);
            return;
        }
        if (now - observedSince < TimeUnit.SECONDS.toMillis(statement.seconds())) {
            return;
        }
        TrafficSample answered;
        try {
            answered = traffic.sample().since(beforeObservation);
        } catch (IOException e) {
            // The next step tries again. Without a verdict, the canary fails after a time.
            LOG.debug("the traffic of the worker cannot be read", e);
            return;
        }
        String failure = null;
        for (Guard guard : statement.guards()) {
            failure = failure == null ? guard.failure(answered) : failure;
        }
        verdicts.put(statement.revision(), node, failure);
        hasVerdict = true;
    }

    private void decide(ConfigHead currentHead, RevisionStatement statement, long now) throws IOException {
        Verdicts.Count count = verdicts.count(statement);
        String failure = count.failure();
        long limit = limitMillis(statement);
        if (failure == null && !count.missing().isEmpty()) {
            if (now - canaryKnownAt < limit) {
                return;
            }
            failure = String.join(", ", count.missing()) + ": no verdict within " + limit / 1000 + " s";
        }
        ConfigHead next = failure == null ? currentHead.passed() : currentHead.failed(failure);
        if (!store.replace(ConfigHead.KEY, next.bytes(), headVersion)) {
            // Another node has decided, or a revision was pushed.
            polledAt = LONG_AGO;
            return;
        }
        LOG.info(
                "fleet {}: the canary of revision {} {}",
                fleet,
                statement.revision(),
                failure == null ? "passed" : "failed: " + failure);
        if (failure != null) {
            recordFailure(currentHead, failure);
        }
        polledAt = LONG_AGO;
    }

    private void recordFailure(ConfigHead currentHead, String failure) throws IOException {
        RevisionStore.Kept entry = revisions.find(currentHead.current().revision());
        revisions.record(new RevisionStore.Kept(currentHead.current(), entry == null ? 0 : entry.length(), failure));
        SignedRevision fallback = currentHead.fallback();
        if (fallback != null) {
            SignedRevision previous = currentHead.previous();
            RevisionStore.Kept old = previous == null ? null : revisions.find(previous.revision());
            revisions.record(new RevisionStore.Kept(fallback, old == null ? 0 : old.length(), ""));
        }
    }
}
