package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Decides in which order issuers are tried. No state. */
final class IssuerOrder {
    private IssuerOrder() {}

    /**
     * The preferred issuer first; those that failed lately come last.
     *
     * @param pausedUntil for each directory's URL when its pause ends, in seconds since 1970
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
