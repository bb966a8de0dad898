package io.millrace.launcher.fleet;

import io.nats.client.Connection;
import io.nats.client.Consumer;
import io.nats.client.ErrorListener;
import java.security.GeneralSecurityException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The problems of one client of NATS: subjects that the servers refuse, and failed connections. The servers report a
 * refused message asynchronously, and do not answer it. Thread-safe.
 */
final class NatsProblems implements ErrorListener {
    /**
     * A refusal counts as ended if the servers have answered a check of the permissions more than this time after it,
     * and have not refused the permission again.
     */
    static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(4);

    /**
     * Time for which a refused permission is given as the reason of a failed query or push. It is longer than the time
     * limit of a query.
     */
    static final long OPTIONAL_KEPT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Beginning of the subjects that get the answers to this node's requests. */
    private static final String INBOX = "_INBOX.";

    private static final Logger LOG = LoggerFactory.getLogger(NatsProblems.class);
    private static final Pattern REFUSED =
            Pattern.compile("permissions violation for (publish|subscription) to \"([^\"]+)\".*");
    private static final String PUBLISH = "publish to ";
    private static final String SUBSCRIBE = "subscribe to ";
    private static final int CAUSES_MAX = 8;
    private static final int SERVERS_MAX = 64;

    private final LongSupplier clockNanos;
    private final String fleet;
    private final String login;
    /** Times of the latest refusal by permission, such as {@code publish to a.b}. */
    private final Map<String, Long> refused = new ConcurrentHashMap<>();
    /**
     * Times of the latest refusal of each permission that purges do not need. These permissions are not checked
     * regularly, so a refusal ends after {@link #OPTIONAL_KEPT_NANOS}.
     */
    private final Map<String, Long> optional = new ConcurrentHashMap<>();
    /** Reasons why the connections failed, by server. */
    private final Map<String, String> failed = new ConcurrentHashMap<>();
    /** Latest failure that belongs to no known server; empty for none. */
    private volatile String latest = "";

    private volatile String server = "";
    /** Time of the latest check of the permissions. */
    private volatile long checkedNanos;
    /** Time of the check before the latest one. The servers have had enough time to answer this earlier check. */
    private volatile long answeredNanos;

    /**
     * @param fleet name of the fleet
     * @param login key of the configuration that authenticates this node; empty for none
     * @param clockNanos monotonic clock
     */
    NatsProblems(String fleet, String login, LongSupplier clockNanos) {
        this.fleet = fleet;
        this.login = login;
        this.clockNanos = clockNanos;
        this.checkedNanos = clockNanos.getAsLong();
        this.answeredNanos = checkedNanos;
    }

    /** Records the server to which the client connects, or is connected. */
    void setServer(String next) {
        server = next;
    }

    /** Forgets the failed connections, because a server is connected. */
    void setConnected() {
        failed.clear();
        latest = "";
    }

    @Override
    public void errorOccurred(Connection connection, String error) {
        String text = error.toLowerCase(Locale.ROOT);
        Matcher refusal = REFUSED.matcher(text);
        if (refusal.matches()) {
            // The pattern matches a lower-case copy. Its offsets also apply to the original text, in which the subject
            // keeps its case.
            String subject = error.substring(refusal.start(2), refusal.end(2));
            if (!recordRefusal(refusal.group(1).equals("publish"), subject)) {
                LOG.warn("fleet {}: NATS server {}: {}", fleet, server, error);
            }
        } else if (text.contains("timeout")) {
            // A timeout is no refusal: the server, or another node, is only slow.
            latest = error;
        } else if (text.contains("authorization") || text.contains("authentication")) {
            recordFailure(authorization(error));
        } else {
            LOG.warn("fleet {}: NATS server {}: {}", fleet, server, error);
        }
    }

    /** Records a refusal. Returns true if the permission was refused before. */
    private boolean recordRefusal(boolean isPublish, String subject) {
        String permission = permission(isPublish, subject);
        return permission.isEmpty()
                ? optional.put((isPublish ? PUBLISH : SUBSCRIBE) + optionalSubject(subject), clockNanos.getAsLong())
                        != null
                : refused.put(permission, clockNanos.getAsLong()) != null;
    }

    /**
     * Returns the subject under which a refusal is recorded. All inboxes count as one subject, because each reply to a
     * query has an inbox of its own.
     */
    private static String optionalSubject(String subject) {
        return subject.startsWith(INBOX) ? INBOX + ">" : subject;
    }

    private String authorization(String error) {
        return "refused the authorization of this node (" + error + "): "
                + (login.isEmpty()
                        ? "set fleet.nkey_file, fleet.credentials_file or fleet.token_file"
                        : "compare " + login + " with the users of the server");
    }

    @Override
    public void exceptionOccurred(Connection connection, Exception exception) {
        LOG.debug("NATS client", exception);
        String text = rootOf(exception).getMessage();
        if (text != null && text.equals("SSL required by server.")) {
            recordFailure("requires TLS: write tls:// in fleet.servers, and set fleet.tls.ca_file");
        } else if (text != null && text.equals("SSL connection wanted by client.")) {
            recordFailure("offers no TLS: write nats:// in fleet.servers without fleet.tls, or give the server a"
                    + " certificate");
        } else {
            latest = text == null ? rootOf(exception).getClass().getSimpleName() : text;
        }
    }

    @Override
    public void slowConsumerDetected(Connection connection, Consumer consumer) {
        LOG.warn("fleet {}: messages of the fleet arrive faster than this node applies them", fleet);
    }

    private void recordFailure(String reason) {
        if (failed.size() < SERVERS_MAX || failed.containsKey(server)) {
            failed.put(server, reason);
        }
    }

    /** Records that the TLS handshake with the present server failed. */
    void tlsFailed(SSLException failure) {
        Throwable root = rootOf(failure);
        String text = String.valueOf(root.getMessage());
        if (failure.getMessage() != null && failure.getMessage().startsWith("Received fatal alert")) {
            recordFailure("refused the TLS handshake (" + failure.getMessage()
                    + "): it may need fleet.tls.certificate and fleet.tls.key");
        } else if (text.startsWith("No subject alternative") || text.startsWith("No name matching")) {
            recordFailure("has a certificate for another host (" + text
                    + "): use a host of the certificate in fleet.servers");
        } else if (root instanceof GeneralSecurityException) {
            recordFailure("has a certificate that is not trusted (" + text
                    + "): fleet.tls.ca_file must contain the authority that issued it");
        } else {
            recordFailure("failed in the TLS handshake (" + text + ")");
        }
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        for (int i = 0; i < CAUSES_MAX; i++) {
            Throwable cause = root.getCause();
            if (cause == null) {
                break;
            }
            root = cause;
        }
        return root;
    }

    /** Returns why servers refuse this node; empty if no server has answered, or a server is connected. */
    String refusedConnections() {
        StringBuilder text = new StringBuilder();
        for (String refusing : new TreeSet<>(failed.keySet())) {
            text.append(text.isEmpty() ? "" : "; ").append("the NATS server ").append(refusing);
            text.append(' ').append(failed.get(refusing));
        }
        return text.toString();
    }

    /** Returns the latest failure of the network; empty for none. */
    String latest() {
        return latest;
    }

    /** Records that the permissions are checked now, so that the servers report those that they refuse. */
    void checked() {
        answeredNanos = checkedNanos;
        checkedNanos = clockNanos.getAsLong();
    }

    /** Returns true if the servers refuse a subscription. */
    boolean refusesSubscription(String subject) {
        return refused.containsKey(permission(false, subject));
    }

    /** Returns the permissions that this node lacks, with the remedy; empty for none. */
    String missingPermissions() {
        long now = clockNanos.getAsLong();
        optional.values().removeIf(at -> now - at > OPTIONAL_KEPT_NANOS);
        TreeSet<String> missing = new TreeSet<>();
        for (Map.Entry<String, Long> one : Map.copyOf(refused).entrySet()) {
            Long at = one.getValue();
            // While sessions fail, permissions are not checked. Therefore the age of a refusal is measured at the
            // latest answered check, and not now.
            if (answeredNanos - at <= KEPT_NANOS) {
                missing.add(one.getKey());
            } else if (refused.remove(one.getKey(), at)) {
                LOG.info("fleet {}: the NATS servers no longer refuse the permission to {}", fleet, one.getKey());
            }
        }
        return refusal(missing);
    }

    /**
     * Returns the permission to query a node, if the servers have recently refused it; otherwise an empty text. The
     * text also contains the remedy.
     */
    String queryRefusal(String node) {
        String permission = PUBLISH + "millrace." + fleet + ".ask." + node;
        return refusal(optional.containsKey(permission) ? Set.of(permission) : Set.of());
    }

    /**
     * Returns the permissions for the fleet's configuration that the servers have recently refused, with the remedy;
     * empty for none.
     */
    String refusedConfig() {
        TreeSet<String> missing = new TreeSet<>();
        for (String permission : optional.keySet()) {
            if (permission.startsWith(PUBLISH + "$KV.")) {
                missing.add(PUBLISH + "$KV.MILLRACE_" + fleet + "_config.>");
            } else if (permission.startsWith(PUBLISH + "$JS.")) {
                missing.add(PUBLISH + "$JS.API.>");
            }
        }
        return refusal(missing);
    }

    private static String refusal(Set<String> missing) {
        return missing.isEmpty()
                ? ""
                : "the NATS servers refuse the permission to " + String.join(", to ", missing)
                        + ": permit this to the user of this node, or correct fleet.name and fleet.node";
    }

    /**
     * Returns a permission as it is written in the configuration of the server; empty for a permission that purges do
     * not need. A member may lack the permission to query other nodes.
     */
    private static String permission(boolean isPublish, String subject) {
        if (subject.contains(".ask.") || subject.contains("KV_MILLRACE") || subject.startsWith("$KV.")) {
            return "";
        }
        if (subject.startsWith(INBOX)) {
            return isPublish ? "" : SUBSCRIBE + INBOX + ">";
        }
        return (isPublish ? PUBLISH : SUBSCRIBE) + (subject.startsWith("$JS.") ? "$JS.API.>" : subject);
    }
}
