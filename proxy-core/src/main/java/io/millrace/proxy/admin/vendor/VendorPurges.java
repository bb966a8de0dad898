package io.millrace.proxy.admin.vendor;

import io.millrace.proxy.admin.cache.InvalidationService;
import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.cache.PurgeService;
import io.millrace.proxy.admin.cache.PurgeService.PurgeReport;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.vendor.SiteSource.Owner;
import io.millrace.proxy.admin.vendor.SiteSource.OwningRule;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Executes all purges of one request to Fastly's or Cloudflare's API. Checks every purge before the first one begins.
 * Thread-safe.
 */
public final class VendorPurges {
    /** Limit of purges in a request, as in Fastly's API. */
    static final int PURGES_MAX = 256;

    private final PurgeService urlPurges;
    private final InvalidationService scopePurges;
    private final SiteSource sites;

    public VendorPurges(PurgeService urlPurges, InvalidationService scopePurges, SiteSource sites) {
        this.urlPurges = urlPurges;
        this.scopePurges = scopePurges;
        this.sites = sites;
    }

    /**
     * Returns the site whose name is the identifier in a request path.
     *
     * @param what {@code service} or {@code zone}, for the error text
     * @throws AdminException if there is no such site
     */
    String site(String id, String what) throws AdminException {
        String site = id.toLowerCase(Locale.ROOT);
        if (!sites.isKnown(site)) {
            throw new AdminException(
                    404,
                    "unknown-site",
                    "no " + what + " " + id + ": no rule has it as remap[].site, nor as its host; nothing was purged");
        }
        return site;
    }

    /** Returns true if a request asks for soft purges, by the field Fastly-Soft-Purge of Fastly's API. */
    static boolean isSoft(AdminRequest request) {
        return "1".equals(request.fields().getOrDefault("fastly-soft-purge", "").strip());
    }

    /** Returns the scope of one tag on a site. */
    static Scope tag(String tag, String site, boolean soft) {
        return new Scope(Kind.TAG, null, null, soft, List.of(tag), site);
    }

    /** Returns the scopes of everything on a site. */
    List<Scope> everything(String site, boolean soft) throws AdminException {
        List<Scope> all = new ArrayList<>();
        for (String host : sites.hosts(site)) {
            all.add(new Scope(Kind.HOST, host, null, soft));
        }
        return all;
    }

    /**
     * Checks that a URL belongs to no other site, with either scheme.
     *
     * @param isWholeHost whether rules for other paths of the same host are checked too
     * @throws AdminException if the URL belongs to another site, or is not a URL
     */
    void checkSite(String url, String site, boolean isWholeHost) throws AdminException {
        Set<String> names = new LinkedHashSet<>();
        Owner foreign = null;
        for (Owner owner : sites.owners(url, isWholeHost)) {
            names.add(owner.site());
            foreign = foreign == null && !owner.site().equals(site) ? owner : foreign;
        }
        if (foreign != null) {
            throw bad(
                    names.contains(site)
                            ? shared(url, site, foreign)
                            : url + " belongs to the site " + String.join(", ", names) + ", not to " + site);
        }
    }

    /** Returns the error text for URLs of which only a part belongs to the requested site. */
    private static String shared(String url, String site, Owner foreign) {
        OwningRule rule = foreign.rule();
        String remedy;
        if (rule != null && rule.isForEveryHost()) {
            int path = foreign.url().indexOf('/', foreign.url().indexOf("://") + 3);
            remedy = "add a rule for " + foreign.url().substring(0, path + 1) + " with site: " + site;
        } else {
            remedy = "set site: " + site + " in this rule";
        }
        return "a purge of " + url + " would also cover another site: " + (rule == null ? "no rule" : rule.text())
                + " assigns " + foreign.url() + " to the site " + foreign.site() + ", not to " + site + "; " + remedy
                + ", or use millctl purge, which may cover several sites";
    }

    static AdminException bad(String message) {
        return new AdminException(400, "bad-request", message + "; nothing was purged");
    }

    /**
     * Executes purges.
     *
     * @return completes with their identifiers, in the same order, when all are durable
     * @throws AdminException if one of them is invalid or not allowed; then nothing is purged
     */
    CompletionStage<List<String>> purge(List<Scope> purges, AdminCaller caller) throws AdminException {
        if (purges.isEmpty() || purges.size() > PURGES_MAX) {
            throw bad("a request has 1 to " + PURGES_MAX + " purges, this one has " + purges.size());
        }
        for (Scope each : purges) {
            scopePurges.check(each, caller);
        }
        List<CompletableFuture<String>> started = new ArrayList<>();
        for (Scope each : purges) {
            started.add(begin(each, caller).toCompletableFuture());
        }
        return CompletableFuture.allOf(started.toArray(new CompletableFuture<?>[0]))
                .thenApply(all -> started.stream().map(CompletableFuture::join).toList());
    }

    private CompletionStage<String> begin(Scope scope, AdminCaller caller) {
        return scope.kind() == Kind.URL && !scope.soft()
                ? urlPurges.purge(String.valueOf(scope.text()), caller, false).thenApply(PurgeReport::id)
                : scopePurges.invalidate(scope, caller, false).thenApply(InvalidationReport::id);
    }
}
