package io.millrace.launcher.fleet.config;

import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.observe.event.EventKind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes revisions of the fleet's configuration, and shows the state of the nodes. A revision is checked with the
 * local file of this node before it is published. Thread-safe.
 */
public final class ConfigPushes implements FleetConfigSource {
    private static final long THREAD_KEPT_SECONDS = 30;
    private static final Logger LOG = LoggerFactory.getLogger(ConfigPushes.class);

    /**
     * The connection to the fleet's configuration.
     *
     * @param fleet name of the fleet
     * @param key public key that verifies revisions
     */
    public record Access(String fleet, ConfigStore store, PublicKey key, ConfigTargets targets) {}

    /** The fleet of this node, and its known nodes. */
    public interface Fleet {
        /** Returns the name of the fleet; empty without one. */
        String name();

        /** Returns the name of this node. */
        String node();

        /** Returns true if the local file permits revisions. */
        boolean isOn();

        /** Returns the reason why there is no connection; empty while connected. */
        String problem();

        /** Returns the revision in force on this node; 0 for none. */
        long revision();

        /** Returns the state of all known nodes. */
        List<Node> nodes();

        /** Returns the highest number of a revision that a live node has reported. */
        long newest();
    }

    private final Fleet fleet;
    private final ConfigState state;
    private final Runnable wakeUp;
    private final ReentrantLock lock = new ReentrantLock();
    /** Runs one push at a time. One more push waits; further pushes get an error. */
    private final ThreadPoolExecutor thread;

    private volatile @Nullable Access access;
    /**
     * Hash of the content whose upload is in progress; empty for none. Guarded by the lock, like the next two fields.
     */
    private String uploaded = "";

    /** Number of parts of this upload that have arrived. */
    private int parts;

    private ByteArrayOutputStream upload = new ByteArrayOutputStream();

    /** @param wakeUp makes this node read the head of the configuration */
    public ConfigPushes(Fleet fleet, ConfigState state, Runnable wakeUp) {
        this.fleet = fleet;
        this.state = state;
        this.wakeUp = wakeUp;
        thread = new ThreadPoolExecutor(
                1, 1, THREAD_KEPT_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), task -> {
                    Thread made = new Thread(task, "fleet-config-push");
                    made.setDaemon(true);
                    return made;
                });
        thread.allowCoreThreadTimeOut(true);
    }

    /**
     * Sets the connection.
     *
     * @param next null while there is none
     */
    public void access(@Nullable Access next) {
        access = next;
    }

    @Override
    public Status status() {
        ConfigHead head = state.head();
        NodeConfigState nodeState = state.nodeState();
        RevisionStatement current = head == null ? null : head.current().statement();
        SignedRevision previous = head == null || !head.isCanary() ? null : head.previous();
        String problem = problem();
        return new Status(
                fleet.name(),
                fleet.node(),
                stateName(problem),
                problem,
                Math.max(nodeState.revision(), fleet.revision()),
                nodeState.newest(),
                nextRevision(head),
                head == null ? "none" : head.isCanary() ? "canary" : "all",
                current == null ? RevisionStatement.NONE : current.content(),
                previous == null ? 0 : previous.revision(),
                previous == null ? RevisionStatement.NONE : previous.statement().content(),
                current == null ? List.of() : current.canary(),
                current == null
                        ? List.of()
                        : current.guards().stream().map(Guard::text).toList(),
                current == null ? 0 : current.seconds(),
                head == null ? 0 : head.failed(),
                head == null ? "" : head.reason(),
                fleet.nodes());
    }

    /** Returns the name of the state. A node is "disconnected" only if it has no connection to the servers. */
    private String stateName(String problem) {
        if (!fleet.isOn()) {
            return "off";
        }
        if (!fleet.problem().isEmpty()) {
            return "disconnected";
        }
        return problem.isEmpty() ? "on" : "unavailable";
    }

    private String problem() {
        if (!fleet.isOn()) {
            return "fleet.config_public_key_file is not set, or fleet.config is false";
        }
        if (!fleet.problem().isEmpty()) {
            return fleet.problem();
        }
        if (!state.problem().isEmpty()) {
            return state.problem();
        }
        return access == null ? "the configuration is being opened" : "";
    }

    /** Returns the number of the next revision: above those of the servers, and above those that a node has had. */
    private long nextRevision(@Nullable ConfigHead head) {
        long known = Math.max(state.nodeState().newest(), fleet.newest());
        return Math.max(known, head == null ? 0 : head.reserved()) + 1;
    }

    private Access requireAccess() throws AdminException {
        Access present = access;
        if (present == null) {
            Status status = status();
            throw new AdminException(
                    status.state().equals("off") ? 409 : 503,
                    status.state().equals("off") ? "fleet-config-off" : "fleet-not-connected",
                    "this node does not share a configuration: " + status.problem());
        }
        return present;
    }

    @Override
    public List<Revision> history() throws AdminException {
        Access present = requireAccess();
        ConfigHead head = state.head();
        long current = head == null ? 0 : head.current().revision();
        List<Revision> revisions = new ArrayList<>();
        try {
            for (RevisionStore.Kept kept :
                    new RevisionStore(present.store()).history().values()) {
                RevisionStatement statement = kept.signed().statement();
                revisions.add(new Revision(
                        statement.revision(),
                        statement.at(),
                        statement.by(),
                        kept.length(),
                        statement.content(),
                        statement.restores(),
                        statement.canary(),
                        kept.failure(),
                        statement.revision() == current));
            }
        } catch (IOException e) {
            throw unavailable(e);
        }
        return revisions;
    }

    private static AdminException unavailable(IOException e) {
        return e instanceof MissingPermissionException
                ? new AdminException(409, "fleet-not-permitted", String.valueOf(e.getMessage()))
                : new AdminException(503, "fleet-not-connected", "the NATS servers do not answer: " + e.getMessage());
    }

    @Override
    public long part(String content, int part, byte[] bytes) throws AdminException {
        requireAccess();
        lock.lock();
        try {
            if (part == 0) {
                uploaded = content;
                parts = 0;
                upload = new ByteArrayOutputStream();
            }
            if (!uploaded.equals(content) || part != parts) {
                throw new AdminException(
                        409,
                        "other-upload",
                        "part " + part + " is not the next part of this upload; another push may be in progress");
            }
            if (upload.size() + bytes.length > ConfigDocument.LENGTH_MAX) {
                throw new AdminException(
                        413, "too-large", "the content is longer than " + ConfigDocument.LENGTH_MAX + " bytes");
            }
            upload.writeBytes(bytes);
            parts++;
            return upload.size();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the uploaded content, and forgets it; null if another one or none was uploaded. */
    private byte @Nullable [] takeUpload(String content) {
        lock.lock();
        try {
            if (!uploaded.equals(content)) {
                return null;
            }
            byte[] bytes = upload.toByteArray();
            uploaded = "";
            upload = new ByteArrayOutputStream();
            return bytes;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CompletionStage<PushReport> push(Push push) throws AdminException {
        Access present = requireAccess();
        try {
            return CompletableFuture.supplyAsync(reporting(present, push), thread);
        } catch (RejectedExecutionException e) {
            throw new AdminException(503, "busy", "another push is in progress; try again later");
        }
    }

    private Supplier<PushReport> reporting(Access present, Push push) {
        return () -> {
            try {
                return publish(present, push);
            } catch (RefusedRevisionException e) {
                LOG.warn("fleet {}: a push was refused: {}", present.fleet(), e.text());
                return new PushReport(false, 0, "", List.of(e.text()));
            } catch (IOException e) {
                throw new CompletionException(unavailable(e));
            } catch (AdminException e) {
                throw new CompletionException(e);
            }
        };
    }

    private PushReport publish(Access present, Push push) throws RefusedRevisionException, IOException, AdminException {
        SignedRevision signed = SignedRevision.parse(push.statement(), push.signature());
        signed.verify(present.key(), present.fleet());
        ConfigStore.Entry entry = present.store().get(ConfigHead.KEY);
        ConfigHead head = entry == null ? null : ConfigHead.read(entry.value());
        RevisionStatement statement = signed.statement();
        if (statement.revision() != nextRevision(head)) {
            throw new AdminException(
                    409,
                    "other-revision",
                    "the next revision is " + nextRevision(head) + ", not " + statement.revision()
                            + "; another push may have been faster, repeat the command");
        }
        checkCanary(head, statement);
        SignedRevision previous = head == null ? null : head.isCanary() ? head.previous() : head.current();
        SignedRevision fallback = fallback(present, push, statement, previous);
        RevisionStore revisions = new RevisionStore(present.store());
        byte[] text = statement.hasContent() ? content(revisions, statement.content()) : null;
        if (text != null) {
            List<String> problems = present.targets()
                    .check(new Pushed(statement.revision(), new String(text, StandardCharsets.UTF_8)))
                    .toCompletableFuture()
                    .join();
            if (!problems.isEmpty()) {
                return new PushReport(false, statement.revision(), "", problems);
            }
            revisions.writeContent(statement.content(), text);
        }
        boolean isCanary = !statement.canary().isEmpty();
        long reserved = fallback == null ? statement.revision() : fallback.revision();
        ConfigHead next = new ConfigHead(isCanary, signed, previous, fallback, reserved, 0, "");
        if (!present.store().replace(ConfigHead.KEY, next.bytes(), entry == null ? 0 : entry.version())) {
            throw new AdminException(409, "other-revision", "another push was faster; repeat the command");
        }
        LOG.info(
                "fleet {}: revision {} with content {} was pushed by {}",
                present.fleet(),
                statement.revision(),
                statement.content(),
                statement.by());
        String stage = isCanary ? "canary on " + String.join(", ", statement.canary()) : "all nodes";
        state.event(
                EventKind.FLEET_CONFIG,
                present.fleet(),
                "revision " + statement.revision() + " was pushed by " + statement.by() + " for " + stage);
        state.head(next);
        wakeUp.run();
        recordInHistory(revisions, next, text);
        return new PushReport(true, statement.revision(), isCanary ? "canary" : "all", List.of());
    }

    /**
     * Adds a published revision to the history, and deletes old revisions from it. A failure does not undo the push, so
     * it is only logged.
     *
     * @param text the content; null for none
     */
    private void recordInHistory(RevisionStore revisions, ConfigHead head, byte @Nullable [] text) {
        SignedRevision signed = head.current();
        String content = signed.statement().content();
        try {
            if (text != null) {
                // Before the head was published, another push may have deleted the same content with an old revision.
                revisions.writeContent(content, text);
            }
            revisions.record(new RevisionStore.Kept(signed, text == null ? 0 : text.length, ""));
            revisions.prune(head);
        } catch (IOException e) {
            LOG.warn(
                    "fleet {}: revision {} is published, but the history is not complete: {}",
                    signed.statement().fleet(),
                    signed.revision(),
                    e.getMessage());
        }
    }

    private void checkCanary(@Nullable ConfigHead head, RevisionStatement statement) throws AdminException {
        if (head != null
                && head.isCanary()
                && ((statement.restores() == 0 && statement.hasContent())
                        || !statement.canary().isEmpty())) {
            throw new AdminException(
                    409,
                    "canary",
                    "revision " + head.current().revision()
                            + " is being tried on its canary nodes; wait for the decision, or end it with"
                            + " millctl fleet config rollback");
        }
        List<String> live = new ArrayList<>();
        for (Node node : fleet.nodes()) {
            if (node.connection().equals("live")) {
                live.add(node.node());
            }
        }
        boolean isLost = head == null && Math.max(state.nodeState().newest(), fleet.newest()) > 0;
        if (isLost && !statement.canary().isEmpty()) {
            throw new AdminException(
                    409,
                    "canary",
                    "the NATS servers have lost the revision to which a failed canary goes back; push it without"
                            + " --canary first");
        }
        for (String node : statement.canary()) {
            if (!live.contains(node)) {
                throw new AdminException(400, "unknown-node", "the canary node '" + node + "' is not live");
            }
        }
    }

    /** Returns the revision that replaces a canary if the canary fails; null without a canary. */
    private static @Nullable SignedRevision fallback(
            Access present, Push push, RevisionStatement statement, @Nullable SignedRevision previous)
            throws RefusedRevisionException {
        if (statement.canary().isEmpty()) {
            return null;
        }
        SignedRevision fallback = SignedRevision.parse(push.fallback(), push.fallbackSignature());
        ConfigHead.verifyFallback(fallback, statement, previous, present.key(), present.fleet());
        return fallback;
    }

    /** Returns the text of the uploaded content. Without an upload, the content must already be on the servers. */
    private byte[] content(RevisionStore revisions, String content) throws RefusedRevisionException, IOException {
        byte[] compressed = takeUpload(content);
        return compressed == null
                ? revisions.content(content).getBytes(StandardCharsets.UTF_8)
                : RevisionStore.expanded(compressed, content);
    }
}
