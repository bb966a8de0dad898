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
 * Reads which names handshakes wait for, and asks whether they may have a certificate.
 *
 * <p>Confined to the ACME thread; the questions run on an executor of their own.
 */
final class OnDemandNames {
    private static final Logger LOG = LoggerFactory.getLogger(OnDemandNames.class);

    /** Names that are asked about or ordered at the same time; more are refused. */
    private static final int ASKED_MAX = 1000;

    private final AcmeStorage storage;
    private final AskClient ask;
    private final Executor asking;
    private final Consumer<Runnable> acmeThread;
    private final BiConsumer<String, AskClient.Answer> answered;
    private final Set<String> asked = new HashSet<>();
    private boolean unreadable;

    /**
     * @param acmeThread runs a task on the ACME thread
     * @param answered told on the ACME thread of each answer
     */
    OnDemandNames(
            AcmeStorage storage,
            AskClient ask,
            Executor asking,
            Consumer<Runnable> acmeThread,
            BiConsumer<String, AskClient.Answer> answered) {
        this.storage = storage;
        this.ask = ask;
        this.asking = asking;
        this.acmeThread = acmeThread;
        this.answered = answered;
    }

    /** Takes up the names that were not seen before. */
    void poll(Predicate<String> held) {
        List<String> names;
        try {
            names = storage.list("requests");
            unreadable = false;
        } catch (IOException e) {
            if (!unreadable) {
                LOG.warn("ACME: requests for certificates cannot be read: {}", e.toString());
            }
            unreadable = true;
            return;
        }
        for (String name : names) {
            if (asked.contains(name)) {
                continue;
            }
            if (!AcmeConfig.isIssuable(name) || held.test(name) || !ask(name)) {
                decided(name);
            }
        }
    }

    /** Asks about a name unless that is done already; false where too many are asked about. */
    boolean ask(String name) {
        if (asked.size() >= ASKED_MAX && !asked.contains(name)) {
            return false;
        }
        if (asked.add(name)) {
            try {
                asking.execute(() -> question(name));
            } catch (RejectedExecutionException e) {
                LOG.debug("stopping", e);
            }
        }
        return true;
    }

    /** Whether a name is asked about, or its order goes on. */
    boolean isAsked(String name) {
        return asked.contains(name);
    }

    private void question(String name) {
        AskClient.Answer answer = AskClient.Answer.NONE;
        try {
            answer = ask.permits(name);
        } finally {
            AskClient.Answer last = answer;
            acmeThread.accept(() -> answered.accept(name, last));
        }
    }

    /** Lets the handshakes that wait for a name go on. */
    void decided(String name) {
        asked.remove(name);
        try {
            storage.delete("requests/" + name);
        } catch (IOException e) {
            LOG.warn("ACME: the request for {} stays behind: {}", name, e.toString());
        }
    }
}
