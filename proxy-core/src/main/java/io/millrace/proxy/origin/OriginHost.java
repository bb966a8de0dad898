package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.fetch.Origin;
import io.netty.util.NetUtil;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One host of a group, for as long as the configuration has it: its health outlives changes of everything else.
 *
 * <p>Thread-safe: the health is one reference, which event loops and the admin API compare and swap; who brings a change about
 * logs it. What a loop counts is in its own {@link HostLoad}.
 */
public final class OriginHost {
    private static final Logger log = LoggerFactory.getLogger(OriginHost.class);

    private final String group;
    private final RuleUrl url;
    private final Origin origin;
    private final boolean address;
    private final long hash;
    private final AtomicReference<OriginHealth> health;
    private final List<HostLoad> loads = new CopyOnWriteArrayList<>();
    /** From before this instance was there. */
    private volatile HostHistory past;

    /** @param renamed the same host of a group that this one's comes in place of; null for none */
    OriginHost(String group, RuleUrl url, @Nullable OriginHost renamed) {
        this.group = group;
        this.url = url;
        OriginHealth known = renamed == null ? OriginHealth.unknown() : renamed.health();
        // Its trial, if one is under way, is that of the other instance and never ends here.
        health = new AtomicReference<>(known.trialLeft(known.term()));
        past = renamed == null ? HostHistory.NONE : renamed.history();
        String host = Objects.requireNonNull(url.host(), "host");
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        Origin named = "https".equals(url.scheme())
                ? Origin.https(bare, url.effectivePort())
                : Origin.http(bare, url.effectivePort());
        origin = url.port() < 0 ? named.withSrv() : named;
        address = NetUtil.isValidIpV4Address(bare) || NetUtil.isValidIpV6Address(bare);
        hash = KeyHash.of(url.authority());
    }

    /** The name of its group. */
    public String group() {
        return group;
    }

    /** Where connections go. */
    public Origin origin() {
        return origin;
    }

    /** Whether it is named by an address, which no certificate is for. */
    public boolean isAddress() {
        return address;
    }

    RuleUrl url() {
        return url;
    }

    /** The same on every proxy and after every start. */
    long hash() {
        return hash;
    }

    /** What is known of it now. */
    public OriginHealth health() {
        return Objects.requireNonNull(health.get());
    }

    /** What the event loops have counted, one element for each that has used it. */
    public List<HostLoad> loads() {
        return loads;
    }

    /** All that is remembered of it. */
    public HostHistory history() {
        HostHistory all = past;
        for (HostLoad load : loads) {
            all = all.and(load);
        }
        return all;
    }

    /** What an earlier process knew of it. */
    public void recall(HostHistory earlier) {
        past = earlier;
    }

    /** For one more event loop. */
    HostLoad newLoad() {
        HostLoad load = new HostLoad();
        loads.add(load);
        return load;
    }

    /** A request that was sent in a term was answered. */
    void answered(int askedIn, long nowMillis) {
        OriginHealth before = health();
        if (before.state() == OriginHealth.State.UP && before.failures() == 0) {
            return;
        }
        swap(now -> now.answered(askedIn, nowMillis), nowMillis);
    }

    /** A request that was sent in a term was not answered, or by what counts as a failure. */
    void failed(String why, int askedIn, long nowMillis, Markdown rules, double jitter) {
        swap(now -> now.failed(why, askedIn, nowMillis, rules, jitter), nowMillis);
    }

    /** Checks that began in a term found it up. */
    void checkedUp(int askedIn, long nowMillis) {
        swap(now -> now.checkedUp(askedIn, nowMillis), nowMillis);
    }

    /** Checks found it down. */
    void checkedDown(String why, long nowMillis, Markdown rules) {
        swap(now -> now.checkedDown(why, nowMillis, rules), nowMillis);
    }

    /** Begins the one trial of a host whose time has come; false when another was faster. */
    boolean beginTrial(long nowMillis) {
        OriginHealth before = health();
        return before.isTrialDue(nowMillis, 0) && health.compareAndSet(before, before.onTrial());
    }

    /** The trial that was begun in a term told nothing. */
    void leaveTrial(int askedIn) {
        health.updateAndGet(now -> now.trialLeft(askedIn));
    }

    /** Its group has these rules from now on. */
    void follow(OriginGroupConfig now, long nowMillis) {
        swap(known -> known.underRules(now.markdown(), now.healthCheck() != null, nowMillis), nowMillis);
    }

    /** An operator puts it down. */
    public void putDown(OriginHealth.Put by, long nowMillis) {
        swap(now -> now.putDown(by), nowMillis);
    }

    /** An operator puts it up. */
    public void putUp(long nowMillis) {
        swap(now -> now.putUp(nowMillis), nowMillis);
    }

    private void swap(UnaryOperator<OriginHealth> change, long nowMillis) {
        OriginHealth before;
        OriginHealth after;
        do {
            before = health();
            after = Objects.requireNonNull(change.apply(before));
        } while (!health.compareAndSet(before, after));
        tell(before, after, nowMillis);
    }

    private void tell(OriginHealth before, OriginHealth after, long nowMillis) {
        OriginHealth.Put put = after.put();
        if (put != null && !put.equals(before.put())) {
            log.warn("origin {} of {} is put down: {}", url.authority(), group, put.reason());
        } else if (put == null && before.put() != null) {
            log.info("origin {} of {} is put up", url.authority(), group);
        }
        if (after.state() == before.state()) {
            return;
        }
        if (after.state() == OriginHealth.State.DOWN) {
            log.warn(
                    "origin {} of {} is down: {}, {} failures in a row; tried again in {} ms",
                    url.authority(),
                    group,
                    after.reason(),
                    after.failures(),
                    after.retryAt() - nowMillis);
        } else {
            log.info(
                    "origin {} of {} is up again after {} ms; it was down for {}",
                    url.authority(),
                    group,
                    nowMillis - before.since(),
                    before.reason());
        }
    }

    /** As the configuration has it: {@code http://10.0.0.1:8080}. */
    @Override
    public String toString() {
        return url.authority();
    }
}
