package io.millrace.acme;

import io.millrace.proxy.config.AcmeConfig;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
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

    private final AcmeStorage storage;
    private final AskClient ask;
    private final ExecutorService asking;
    private final Consumer<Runnable> acmeThread;
    private final Consumer<String> permitted;
    private final Set<String> asked = new HashSet<>();

    /**
     * @param acmeThread runs a task on the ACME thread
     * @param permitted told on the ACME thread of each name that may have a certificate
     */
    OnDemandNames(
            AcmeStorage storage,
            AskClient ask,
            ExecutorService asking,
            Consumer<Runnable> acmeThread,
            Consumer<String> permitted) {
        this.storage = storage;
        this.ask = ask;
        this.asking = asking;
        this.acmeThread = acmeThread;
        this.permitted = permitted;
    }

    /** Takes up the names that were not seen before. */
    void poll(Predicate<String> held) {
        List<String> names;
        try {
            names = storage.list("requests");
        } catch (IOException e) {
            LOG.warn("ACME: requests for certificates cannot be read: {}", e.toString());
            return;
        }
        for (String name : names) {
            if (asked.contains(name)) {
                continue;
            }
            if (!AcmeConfig.isIssuable(name) || held.test(name)) {
                decided(name);
            } else {
                asked.add(name);
                asking.execute(() -> question(name));
            }
        }
    }

    private void question(String name) {
        boolean yes = false;
        try {
            yes = ask.permits(name);
            if (!yes) {
                LOG.info("ACME: tls.acme.on_demand.ask permits no certificate for {}", name);
            }
        } catch (IOException e) {
            LOG.warn("ACME: tls.acme.on_demand.ask does not answer for {}: {}", name, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean permits = yes;
        acmeThread.accept(() -> {
            if (permits) {
                permitted.accept(name);
            } else {
                decided(name);
            }
        });
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
