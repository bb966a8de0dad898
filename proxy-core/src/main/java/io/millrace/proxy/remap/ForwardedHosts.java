package io.millrace.proxy.remap;

import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.TargetUri;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The rules for hosts chosen by clients: each leads to the URL's own host. A rule is created when its host is
 * requested, and cached in one slot until another host uses the slot. The number of slots limits the memory that
 * clients can use. Thread-safe.
 */
final class ForwardedHosts {
    private static final int SLOTS = 1024;

    private final RemapRule model;
    private final AtomicReferenceArray<Mapped> slots = new AtomicReferenceArray<>(SLOTS);

    /**
     * @param config settings common to all these rules
     */
    ForwardedHosts(RemapRuleConfig config) {
        model = new RemapRule(config);
    }

    /** Returns the rule of a URL, which must have a host. */
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
