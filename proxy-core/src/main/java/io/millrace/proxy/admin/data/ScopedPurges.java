package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.exchange.decide.InvalidationScopes;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationEntry;
import io.millrace.proxy.purge.InvalidationKind;
import io.millrace.proxy.purge.InvalidationScope;
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

/**
 * Purges of more than a URL for the admin API.
 *
 * <p>Thread-safe.
 */
public final class ScopedPurges implements InvalidationService {
    private final ProxyView proxy;

    public ScopedPurges(ProxyView proxy) {
        this.proxy = proxy;
    }

    @Override
    public CompletionStage<InvalidationReport> invalidate(Scope scope) {
        boolean isOfUrl = scope.kind() == Kind.PREFIX || scope.kind() == Kind.URL;
        String asked = String.valueOf(isOfUrl ? scope.text() : scope.host());
        String url = isOfUrl ? asked : "http://" + asked + "/";
        if (scope.kind() == Kind.ALL) {
            return invalidate(List.of(InvalidationScope.all()), scope, Counter.PURGES_ALL, "everything");
        }
        if (scope.kind() == Kind.TAG) {
            return invalidateTags(scope);
        }
        TargetResult parsed = TargetUri.parseAbsolute(url);
        boolean isOfHost = !isOfUrl;
        if (!(parsed instanceof TargetUri target)
                || (isOfHost && (!target.path().equals("/") || target.hasQuery() || !target.isHostAndPort(asked)))) {
            String what = isOfHost ? "not a host, with its port where that is not the usual one: " : "not a URL: ";
            return CompletableFuture.failedFuture(new AdminException(400, "bad-request", what + asked));
        }
        RemapTable rules = proxy.settings().remap();
        return switch (scope.kind()) {
            case GROUP ->
                invalidate(
                        groups(rules, target, String.valueOf(scope.text())),
                        scope,
                        Counter.PURGES_GROUP,
                        scope.text() + " of " + target.authority());
            case HOST ->
                invalidate(
                        InvalidationScopes.of(target, rules.rulesUnder(target)),
                        scope,
                        Counter.PURGES_HOST,
                        target.authority());
            case URL ->
                invalidate(
                        InvalidationScopes.urls(List.of(target), rules),
                        scope,
                        Counter.PURGES_URL_SOFT,
                        target.asString());
            default ->
                invalidate(
                        InvalidationScopes.of(target, rules.rulesUnder(target)),
                        scope,
                        Counter.PURGES_PREFIX,
                        target.asString());
        };
    }

    private CompletionStage<InvalidationReport> invalidateTags(Scope scope) {
        TagList list = new TagList();
        for (String tag : scope.tags()) {
            byte[] bytes = tag.getBytes(StandardCharsets.UTF_8);
            list.addOne(bytes, 0, bytes.length);
        }
        String problem = list.problem();
        if (problem != null || list.tags().isEmpty()) {
            return refused(problem == null ? "a tag is empty" : problem);
        }
        String site = scope.site();
        if (site != null && !isSite(site)) {
            return refused("not a site, which is a host or the name that a rule has in site: " + site);
        }
        Set<String> sites = site == null ? Set.of() : Set.of(site.toLowerCase(Locale.ROOT));
        String target = String.join(", ", scope.tags()) + (site == null ? " of every site" : " of " + site);
        return invalidate(InvalidationScopes.tags(list.tags(), sites), scope, Counter.PURGES_TAG, target);
    }

    private static boolean isSite(String site) {
        return TargetUri.parseAbsolute("http://" + site + "/") instanceof TargetUri url
                && url.host().equalsIgnoreCase(site);
    }

    private static CompletionStage<InvalidationReport> refused(String why) {
        return CompletableFuture.failedFuture(new AdminException(400, "bad-request", why + "; nothing was purged"));
    }

    /** The group of the host's origins, of both schemes. */
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

    private CompletionStage<InvalidationReport> invalidate(
            List<InvalidationScope> scopes, Scope asked, Counter counter, String target) {
        ServingLoop loop = proxy.loops().get(0);
        CompletableFuture<InvalidationReport> report = new CompletableFuture<>();
        proxy.shared().invalidator().invalidate(scopes, asked.soft(), loop.loop(), (entries, failure) -> {
            loop.counters().increment(failure == null ? counter : Counter.PURGES_FAILED);
            if (failure != null) {
                report.completeExceptionally(new AdminException(
                        500,
                        "purge-not-durable",
                        "invalidated in this process, but the storage could not be written: " + failure.getMessage()));
                return;
            }
            InvalidationEntry last = entries.get(entries.size() - 1);
            String became = asked.soft()
                    ? "what was stored is stale: it is validated before it is used again"
                    : "what was stored is gone";
            report.complete(new InvalidationReport(word(last.kind()), target, last.stamp(), became));
        });
        return report;
    }
}
