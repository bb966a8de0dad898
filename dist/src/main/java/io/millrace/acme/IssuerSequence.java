package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Computes the sequence in which issuers are tried. Stateless. */
final class IssuerSequence {
    private IssuerSequence() {}

    /**
     * Returns the issuers in the configured sequence. Issuers in a pause, after a failed order, come last.
     *
     * @param pausedUntil end of the pause for each directory URL, in seconds since 1970
     */
    static List<Issuer> of(List<Issuer> issuers, Map<String, Long> pausedUntil, long nowSeconds) {
        List<Issuer> order = new ArrayList<>();
        List<Issuer> paused = new ArrayList<>();
        for (Issuer issuer : issuers) {
            (pausedUntil.getOrDefault(issuer.directory(), 0L) > nowSeconds ? paused : order).add(issuer);
        }
        order.addAll(paused);
        return order;
    }
}
