package io.millrace.proxy.remap;

import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.TargetUri;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Rules for hosts that clients name themselves: each leads to the URL's own host. They are made when a host is asked for and kept in one slot each; a new host takes the slot. What clients can make it remember is
 * bounded by the slots. Thread-safe.
 */
final class ForwardedHosts {
    private static final int SLOTS = 1024;

    private final RemapRule model;
    private final AtomicReferenceArray<Mapped> slots = new AtomicReferenceArray<>(SLOTS);

    /** @param config what holds for all of them */
    ForwardedHosts(RemapRuleConfig config) {
        model = new RemapRule(config);
    }

    /** The rule of a URL, which has a host. */
    Mapped of(TargetUri url) {
        byte[] host = url.hostBytes();
        int hash = 31 * HostIndex.hash(host, 0, host.length) + url.port() * 2 + (url.isSecure() ? 1 : 0);
        int slot = (hash ^ hash >>> 10) & (SLOTS - 1);
        Mapped known = slots.get(slot);
        if (known != null && known.rule().leadsTo(url)) {
            return known;
        }
        Mapped made = model.forwardedTo(new RuleUrl(url.scheme(), url.host(), url.port(), "/"));
        slots.set(slot, made);
        return made;
    }
}
