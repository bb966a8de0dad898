package io.millrace.proxy.remap;

import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.TargetUri;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The rules of a forward proxy: each leads to the host that the client chose. A rule is created when its host is
 * requested, and cached until another host needs its slot. The fixed number of slots limits the memory that clients
 * can use. Thread-safe.
 */
final class ForwardedHosts {
    private static final int SLOTS = 1024;

    private final RemapRule model;
    private final AtomicReferenceArray<Mapped> slots = new AtomicReferenceArray<>(SLOTS);

    /**
     * @param config settings that all these rules share
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
