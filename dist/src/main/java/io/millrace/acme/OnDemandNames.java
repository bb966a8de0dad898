package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The host names for which TLS handshakes wait for a certificate. Workers write a request file for each name into the
 * storage. This class reads these files, and asks the operator's service whether the names may have a certificate.
 *
 * <p>Not thread-safe; confined to the ACME thread. The queries run on a separate executor.
 */
final class OnDemandNames {
    private static final Logger LOG = LoggerFactory.getLogger(OnDemandNames.class);

    /** Limit of names that are queried or ordered at the same time. Further names are refused. */
    private static final int ASKED_MAX = 1000;

    private final AcmeStorage storage;
    private final AskClient ask;
    private final Executor askExecutor;
    private final Consumer<Runnable> acmeThread;
    private final BiConsumer<String, AskClient.Answer> answered;
    private final Set<String> namesInProgress = new HashSet<>();
    /** True if the last attempt to list the request files failed; prevents repeated log messages. */
    private boolean unreadable;

    /**
     * @param acmeThread runs a task on the ACME thread
     * @param answered called on the ACME thread with each answer
     */
    OnDemandNames(
            AcmeStorage storage,
            AskClient ask,
            Executor askExecutor,
            Consumer<Runnable> acmeThread,
            BiConsumer<String, AskClient.Answer> answered) {
        this.storage = storage;
        this.ask = ask;
        this.askExecutor = askExecutor;
        this.acmeThread = acmeThread;
        this.answered = answered;
    }

    /**
     * Reads the request files, and asks the operator's service about new names.
     *
     * @param hasCertificate returns true for a name that has a certificate
     */
    void poll(Predicate<String> hasCertificate) {
        List<String> names;
        try {
            names = storage.list("requests");
            unreadable = false;
        } catch (IOException e) {
            if (!unreadable) {
                LOG.warn("ACME: the list of requested certificates cannot be read: {}", e.toString());
            }
            unreadable = true;
            return;
        }
        for (String name : names) {
            if (namesInProgress.contains(name)) {
                continue;
            }
            if (!AcmeConfig.isIssuable(name) || hasCertificate.test(name) || !ask(name)) {
                decided(name);
            }
        }
    }

    /** Starts the query of a name, unless it is in progress. Returns false if the limit is reached. */
    boolean ask(String name) {
        if (namesInProgress.size() >= ASKED_MAX && !namesInProgress.contains(name)) {
            return false;
        }
        if (namesInProgress.add(name)) {
            try {
                askExecutor.execute(() -> query(name));
            } catch (RejectedExecutionException e) {
                LOG.debug("stopping", e);
            }
        }
        return true;
    }

    /** Returns true if the query or the order of a name is in progress. */
    boolean isPending(String name) {
        return namesInProgress.contains(name);
    }

    private void query(String name) {
        AskClient.Answer answer = AskClient.Answer.NONE;
        try {
            answer = ask.permits(name);
        } finally {
            AskClient.Answer last = answer;
            acmeThread.accept(() -> answered.accept(name, last));
        }
    }

    /** Deletes the request file of a name, which ends the wait of the handshakes. */
    void decided(String name) {
        namesInProgress.remove(name);
        try {
            storage.delete("requests/" + name);
        } catch (IOException e) {
            LOG.warn("ACME: the request file for {} cannot be deleted: {}", name, e.toString());
        }
    }
}
