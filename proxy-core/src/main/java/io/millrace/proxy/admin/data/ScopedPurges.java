package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService;
import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.exchange.settings.InvalidationScopes;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationEntry;
import io.millrace.proxy.purge.InvalidationKind;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.PurgeRequest;
import io.millrace.proxy.purge.fleet.FleetOutbox;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.pattern.PurgedPatterns;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.purge.record.PurgeState;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Executes purges of scopes for the admin API. A scope is a host, prefix, group, set of tags, pattern or everything. A
 * single URL is purged only softly here, so that its responses become stale and stay stored.
 *
 * <p>Thread-safe.
 */
public final class ScopedPurges implements InvalidationService {
    private final ProxyView proxy;
    private final PurgeCounts purgeCounts;

    public ScopedPurges(ProxyView proxy) {
        this(proxy, new PurgeCounts());
    }

    ScopedPurges(ProxyView proxy, PurgeCounts purgeCounts) {
        this.proxy = proxy;
        this.purgeCounts = purgeCounts;
    }

    /**
     * A purge before its execution. Immutable.
     *
     * @param scopes the scopes to invalidate
     * @param counter the counter of purges of this kind
     * @param target description of the requested target
     * @param pattern the pattern, if this is a purge by pattern; such a plan has no scopes; null for other purges
     * @param note a remark for the answer; empty for none
     */
    record Plan(
            List<InvalidationScope> scopes,
            Counter counter,
            String target,
            @Nullable PurgedPattern pattern,
            String note) {
        /** Creates a plan of scopes. */
        Plan(List<InvalidationScope> scopes, Counter counter, String target) {
            this(scopes, counter, target, null, "");
        }
    }

    /**
     * Returns the plan of a purge of all URLs below a URL. The plan has a remark if the purge probably covers nothing.
     */
    private static Plan planBelow(TargetUri url, RemapTable table, Counter counter, String target) {
        List<RemapRule> rules = table.rulesUnder(url);
        return new Plan(
                InvalidationScopes.of(url, rules),
                counter,
                target,
                null,
                InvalidationScopes.noteOnHost(url, rules, table.forwards()));
    }

    @Override
    public CompletionStage<InvalidationReport> invalidate(Scope scope) {
        return invalidate(scope, AdminCaller.UNKNOWN, false);
    }

    @Override
    public CompletionStage<InvalidationReport> invalidate(Scope scope, AdminCaller caller, boolean counts) {
        try {
            Plan plan = plan(scope, caller);
            FleetPurge shared = FleetScopes.of(scope, plan.target());
            FleetScopes.check(proxy.shared().purges().fleet(), shared);
            return invalidate(plan, scope, client(caller), counts, shared);
        } catch (AdminException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public void check(Scope scope, AdminCaller caller) throws AdminException {
        plan(scope, caller);
    }

    /**
     * Returns the plan for the purge of a scope under the present remap rules.
     *
     * @throws AdminException if the scope is invalid, or the client has no right to the purge
     */
    Plan plan(Scope scope, AdminCaller caller) throws AdminException {
        PurgePermission.checkKind(caller, scope);
        RemapTable rules = proxy.settings().remap();
        return switch (scope.kind()) {
            case ALL -> new Plan(List.of(InvalidationScope.all()), Counter.PURGES_ALL, "everything");
            case TAG -> {
                PurgePermission.checkTags(caller, scope.site(), rules);
                yield planTags(scope, rules);
            }
            case PATTERN -> planPattern(scope, caller, rules);
            case GROUP -> {
                TargetUri host = host(scope);
                PurgePermission.checkHost(caller, host, rules);
                String name = String.valueOf(scope.text());
                yield new Plan(
                        groups(rules, host, name),
                        Counter.PURGES_GROUP,
                        name + " of " + host.authority(),
                        null,
                        InvalidationScopes.noteOnHost(host, rules.rulesUnder(host), rules.forwards()));
            }
            case HOST -> {
                TargetUri host = host(scope);
                PurgePermission.checkHost(caller, host, rules);
                yield planBelow(host, rules, Counter.PURGES_HOST, host.authority());
            }
            case URL -> {
                TargetUri url = url(scope);
                PurgePermission.checkUrl(caller, url, rules);
                List<TargetUri> urls = PurgeRequest.urls(url);
                boolean isMapped = rules.forwards()
                        || urls.stream().anyMatch(each -> !rules.matches(each).isEmpty());
                yield new Plan(
                        InvalidationScopes.urls(urls, rules),
                        Counter.PURGES_URL_SOFT,
                        url.asString(),
                        null,
                        InvalidationScopes.noteOnUrl(url, isMapped));
            }
            case PREFIX -> {
                TargetUri url = url(scope);
                PurgePermission.checkHost(caller, url, rules);
                yield planBelow(url, rules, Counter.PURGES_PREFIX, url.asString());
            }
        };
    }

    private static TargetUri url(Scope scope) throws AdminException {
        if (TargetUri.parseAbsolute(String.valueOf(scope.text())) instanceof TargetUri url) {
            return url;
        }
        throw new AdminException(400, "bad-request", "not a URL: " + scope.text());
    }

    private static TargetUri host(Scope scope) throws AdminException {
        String host = String.valueOf(scope.host());
        if (TargetUri.parseAbsolute("http://" + host + "/") instanceof TargetUri url
                && url.path().equals("/")
                && !url.hasQuery()
                && url.isHostAndPort(host)) {
            return url;
        }
        throw new AdminException(
                400,
                "bad-request",
                "not a host: " + host + "; expected a host name, with its port unless that is the default port");
    }

    private static Plan planTags(Scope scope, RemapTable rules) throws AdminException {
        TagList list = new TagList();
        for (String tag : scope.tags()) {
            byte[] bytes = tag.getBytes(StandardCharsets.UTF_8);
            list.addOne(bytes, 0, bytes.length);
        }
        String problem = list.problem();
        if (problem != null || list.tags().isEmpty()) {
            throw refused(problem == null ? "a tag is empty" : problem);
        }
        String site = scope.site();
        if (site != null && !isSite(site)) {
            throw refused("not a site, which is a host or the value of site in a remap rule: " + site);
        }
        if (site != null && !mayHaveResponses(rules, site.toLowerCase(Locale.ROOT))) {
            throw new AdminException(
                    404,
                    "unknown-site",
                    "no site " + site + ": no rule has it as remap[].site, nor as its host; nothing was purged");
        }
        Set<String> sites = site == null ? Set.of() : Set.of(site.toLowerCase(Locale.ROOT));
        return new Plan(
                InvalidationScopes.tags(list.tags(), sites),
                Counter.PURGES_TAG,
                PurgeRecord.tagTarget(scope.tags(), site));
    }

    private static Plan planPattern(Scope scope, AdminCaller caller, RemapTable rules) throws AdminException {
        String expression = String.valueOf(scope.text());
        try {
            PurgedPattern pattern = PurgedPattern.parse(expression, scope.soft());
            String limited = SitePatterns.limited(pattern, caller, rules);
            if (!limited.equals(expression)) {
                pattern = PurgedPattern.parse(limited, scope.soft());
            }
            if (pattern.isTooLong()) {
                throw refused("an expression may have at most " + PurgedPattern.TEXT_BYTES_MAX + " bytes"
                        + (limited.equals(expression)
                                ? ""
                                : ", including the hosts of the token's sites, which are added"));
            }
            return new Plan(List.of(), Counter.PURGES_PATTERN, limited, pattern, "");
        } catch (ExpressionException e) {
            throw new AdminException(400, "bad-expression", "where:" + e.message() + "; nothing was purged");
        }
    }

    /** Returns true if responses under the rules can belong to a site. The forward proxy has a site for each host. */
    private static boolean mayHaveResponses(RemapTable rules, String site) {
        return rules.forwards()
                || SitesOfRules.isKnown(rules, site)
                || rules.rules().stream()
                        .anyMatch(rule -> site.equals(
                                rule.config().cache().settings().key().host()));
    }

    private static boolean isSite(String site) {
        return TargetUri.parseAbsolute("http://" + site + "/") instanceof TargetUri url
                && url.host().equalsIgnoreCase(site);
    }

    private static AdminException refused(String why) {
        return new AdminException(400, "bad-request", why + "; nothing was purged");
    }

    /** Returns the scopes of a cache group of a host, for http and https and every rule below the host's URL. */
    private static List<InvalidationScope> groups(RemapTable rules, TargetUri target, String name) {
        TargetUri other = target.inOtherScheme();
        List<InvalidationScope> scopes =
                new ArrayList<>(InvalidationScopes.group(target, rules.rulesUnder(target), name));
        scopes.addAll(InvalidationScopes.group(other, rules.rulesUnder(other), name));
        return scopes;
    }

    private static String word(InvalidationKind kind) {
        return kind == InvalidationKind.TAG_EVERYWHERE ? InvalidationKind.TAG.text() : kind.text();
    }

    /**
     * Returns the name of the invalidated scope. A prefix with the path {@code /} is invalidated as a host, which
     * covers the same responses, but the answer still calls the scope a prefix.
     */
    private static String word(Scope requested, InvalidationKind invalidated) {
        boolean isWholeHost = requested.kind() == Kind.PREFIX
                && invalidated == InvalidationKind.HOST
                && TargetUri.parseAbsolute(String.valueOf(requested.text())) instanceof TargetUri url
                && url.pathAndQuery().equals("/");
        return isWholeHost ? InvalidationKind.PREFIX.text() : word(invalidated);
    }

    /**
     * Carries out a purge.
     *
     * @param shared the purge for other nodes of the fleet; null if it is not shared
     */
    CompletionStage<InvalidationReport> invalidate(
            Plan plan, Scope requested, PurgeClient client, boolean counts, @Nullable FleetPurge shared) {
        ServingLoop loop = proxy.loops().get(0);
        PurgeHistory purges = proxy.shared().purges();
        Invalidator invalidator = proxy.shared().invalidator();
        long[] previousStamps = counts ? invalidator.hardStamps(plan.scopes()) : new long[0];
        CompletableFuture<InvalidationReport> report = new CompletableFuture<>();
        Invalidator.Reply reply = (entries, failure) -> {
            loop.counters().increment(failure == null ? plan.counter() : Counter.PURGES_FAILED);
            InvalidationEntry last = entries.get(entries.size() - 1);
            PurgeRecord record = PurgeRecord.done(
                    PurgeId.ofStamp(last.stamp()),
                    purges.nowMillis(),
                    client,
                    word(requested.kind()),
                    plan.target(),
                    requested.site(),
                    requested.soft());
            if (failure != null) {
                invalidator.allowSweep(last.stamp());
                purges.add(record.in(PurgeState.FAILED), Runnable::run, () -> {});
                report.completeExceptionally(new AdminException(
                        500,
                        "purge-not-durable",
                        "invalidated in this process, but the storage could not be written: " + failure.getMessage()));
                return;
            }
            String outcome = requested.soft()
                    ? "stored responses are stale and are validated before their next use"
                    : "stored responses are gone";
            boolean isShared = shared != null && purges.fleet().isActive();
            InvalidationReport uncounted = new InvalidationReport(
                    word(requested, last.kind()),
                    plan.target(),
                    last.stamp(),
                    plan.note().isEmpty() ? outcome : outcome + "; " + plan.note(),
                    -1,
                    false,
                    isShared ? FleetOutbox.PENDING : null);
            purges.add(record, shared, loop.loop(), notQueued -> {
                if (notQueued != null) {
                    invalidator.allowSweep(last.stamp());
                    report.completeExceptionally(FleetScopes.notQueued(notQueued));
                } else if (counts) {
                    count(record, plan, previousStamps, uncounted, report);
                } else {
                    report.complete(uncounted);
                }
            });
        };
        // A counted purge by pattern is not swept before its count ends, because a sweep removes the counted objects.
        if (plan.pattern() == null) {
            invalidator.invalidate(plan.scopes(), requested.soft(), loop.loop(), reply);
        } else if (!invalidator.invalidate(plan.pattern(), counts, loop.loop(), reply)) {
            report.completeExceptionally(tooManyPatterns());
        }
        return report;
    }

    private static AdminException tooManyPatterns() {
        return new AdminException(429, "too-many-patterns", PurgedPatterns.FULL + "; nothing was purged");
    }

    /**
     * Starts the count, and completes the report after the first slice of the count, about 200 ms. The report contains
     * the number of objects only if the count is complete by then.
     */
    private void count(
            PurgeRecord record,
            Plan plan,
            long[] previousStamps,
            InvalidationReport uncounted,
            CompletableFuture<InvalidationReport> report) {
        Invalidator invalidator = proxy.shared().invalidator();
        long stamp = uncounted.stamp();
        PurgedPattern pattern = plan.pattern();
        PurgeCount count = pattern == null
                ? PurgeCount.of(proxy.store(), invalidator, plan.scopes(), stamp, previousStamps)
                : PurgeCount.of(proxy.store(), invalidator, pattern.at(stamp, stamp >>> PurgeId.TIME_SHIFT));
        count.end().thenAccept(counted -> {
            invalidator.allowSweep(stamp);
            if (counted.isWhole()) {
                Count all = counted.count();
                proxy.shared().purges().counted(record.id(), all.objects(), all.bytes());
            }
        });
        count.firstSlice()
                .thenAccept(begun -> report.complete(new InvalidationReport(
                        uncounted.scope(),
                        uncounted.target(),
                        uncounted.stamp(),
                        uncounted.detail(),
                        begun.isWhole() ? begun.count().objects() : -1,
                        !begun.isOver(),
                        uncounted.fleet())));
        try {
            purgeCounts.start(record, count);
        } catch (AdminException e) {
            // Too many counts are running. The purge is in force, but its objects are not counted.
            invalidator.allowSweep(stamp);
            report.complete(uncounted);
        }
    }

    /** Returns the name of a kind in records. */
    static String word(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the client for records. */
    static PurgeClient client(AdminCaller caller) {
        return new PurgeClient("admin", caller.uid(), caller.token(), caller.address());
    }
}
