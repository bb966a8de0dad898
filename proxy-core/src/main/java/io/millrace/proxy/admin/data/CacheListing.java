package io.millrace.proxy.admin.data;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.admin.cache.ListSource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredSummary;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.stored.ListedFacts;
import io.millrace.proxy.expression.stored.StoredFacts;
import io.millrace.proxy.expression.stored.StoredFields;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.store.CacheStore;
import io.millrace.store.HeadSummary;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.StoreKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lists the store's inventory (the table of stored objects) by URL, variant and host.
 *
 * <p>Thread-safe.
 */
public final class CacheListing implements ListSource {
    /** Time limit of a page; the next page continues where this page ended. */
    private static final long PAGE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Limit of hosts counted separately; further hosts are counted together. */
    private static final int HOSTS_MAX = 10_000;

    private static final String OTHER_HOSTS = "(other hosts)";

    private final Supplier<CacheStore<StoredHead>> store;
    private final Supplier<RemapTable> rules;
    private final LongSupplier clockMillis;

    /**
     * Creates a listing of one store.
     *
     * @param rules returns the remap rules in force, which determine the sites of URLs
     * @param clockMillis returns the present time, for the ages of objects
     */
    public CacheListing(Supplier<CacheStore<StoredHead>> store, Supplier<RemapTable> rules, LongSupplier clockMillis) {
        this.store = store;
        this.rules = rules;
        this.clockMillis = clockMillis;
    }

    @Override
    public CompletionStage<ListReport> list(ListQuery query) {
        CompletableFuture<ListReport> report = new CompletableFuture<>();
        try {
            Page page = new Page(store.get(), query, rules.get(), clockMillis.getAsLong());
            store.get().list(query.after(), page, Runnable::run, result -> report.complete(page.report(result)));
        } catch (ExpressionException e) {
            report.completeExceptionally(new AdminException(400, "bad-expression", "where:" + e.message()));
        } catch (PatternSyntaxException e) {
            report.completeExceptionally(new AdminException(400, "bad-regex", String.valueOf(e.getMessage())));
        } catch (IllegalArgumentException e) {
            report.completeExceptionally(new AdminException(400, "bad-request", "after: " + e.getMessage()));
        }
        return report;
    }

    /**
     * Returns true if lookups can find a variant. The object under the primary key must be the Vary marker (an object
     * that names the fields of a URL's variants) whose nonce is in the variant's key. After a purge of the URL, a new
     * marker has another nonce. Called on the inventory's thread.
     *
     * @param primaryLength length of the primary key, with which the variant's key begins
     */
    static boolean isReachable(CacheStore<StoredHead> store, byte[] variantKey, int primaryLength) {
        StoreKey primary = store.key(variantKey, 0, primaryLength);
        if (!store.contains(primary)) {
            return false;
        }
        HeadSummary summary = store.summary(primary);
        return summary == null || StoredSummary.read(summary.text()).leadsTo(variantKey, primaryLength);
    }

    /** Collects one page. Confined to the inventory's thread. */
    private static final class Page implements ListVisitor {
        private final CacheStore<StoredHead> store;
        private final ListQuery query;
        private final byte @Nullable [] prefix;
        private final @Nullable Pattern regex;
        private final @Nullable Expression<StoredFacts> where;
        /** The site in lower case; null for every site. */
        private final @Nullable String site;

        private final RemapTable rules;
        private final long nowMillis;
        private final long endNanos = System.nanoTime() + PAGE_NANOS;
        private final List<Listed> objects = new ArrayList<>();
        private final Map<String, HostCount> hosts = new HashMap<>();

        Page(CacheStore<StoredHead> store, ListQuery query, RemapTable rules, long nowMillis)
                throws ExpressionException {
            this.store = store;
            this.query = query;
            this.rules = rules;
            this.nowMillis = nowMillis;
            String prefixText = query.prefix();
            String expression = query.regex();
            prefix = prefixText == null ? null : prefixText.getBytes(StandardCharsets.ISO_8859_1);
            regex = expression == null ? null : Regex.compile(expression);
            String named = query.site();
            site = named == null ? null : named.toLowerCase(Locale.ROOT);
            String condition = query.where();
            where = condition == null ? null : Expression.parse(condition, StoredFields.LISTED);
        }

        /**
         * Returns the length of the primary key, with which the key of a variant begins. In the key of a variant, a NUL
         * follows the primary key.
         */
        private static int primaryLength(byte[] key) {
            int length = 0;
            while (length < key.length && key[length] != 0) {
                length++;
            }
            return length;
        }

        @Override
        public boolean mayMatch(byte[] key) {
            if (prefix != null && !startsWith(key, prefix)) {
                return false;
            }
            if (regex == null && query.host() == null) {
                return true;
            }
            String url = new String(key, 0, primaryLength(key), StandardCharsets.ISO_8859_1);
            return (query.host() == null
                            || query.host().equalsIgnoreCase(StoredUrl.of(url).host()))
                    && (regex == null || regex.matcher(url).find());
        }

        private static boolean startsWith(byte[] key, byte[] prefix) {
            return key.length >= prefix.length
                    && java.util.Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
        }

        @Override
        public boolean visit(ListedObject object) {
            StoredSummary summary = StoredSummary.read(object.summary().text());
            if (where != null && summary.status() != 0 && !where.test(facts(object, summary))) {
                return true;
            }
            int primaryLength = primaryLength(object.key());
            boolean isVariant = primaryLength < object.key().length;
            // A Vary marker, which names the fields of a URL's variants, is not a response.
            if (summary.status() == 0 || (isVariant && !isReachable(store, object.key(), primaryLength))) {
                return true;
            }
            String url = new String(object.key(), 0, primaryLength, StandardCharsets.ISO_8859_1);
            if (site != null && !isOnSite(url, site)) {
                return true;
            }
            if (query.countsHosts()) {
                count(StoredUrl.of(url).host(), Math.max(0, object.bodyLength()));
                return true;
            }
            objects.add(new Listed(
                    url,
                    summary.variant(),
                    summary.status(),
                    summary.type(),
                    object.bodyLength(),
                    object.isWhole(),
                    object.summary().storedAtSeconds(),
                    object.expiresAtSeconds(),
                    object.tags(),
                    object.volume().toString(),
                    object.segment(),
                    object.offset(),
                    Base64.getUrlEncoder().withoutPadding().encodeToString(object.key())));
            return objects.size() < query.limit();
        }

        /** Returns true if a rule of a site maps a URL. Without a rule, the URL belongs to the site of its host. */
        private boolean isOnSite(String text, String name) {
            return TargetUri.parseAbsolute(text) instanceof TargetUri url
                    && PurgePermission.sites(url, PurgePermission.rulesOf(url, rules))
                            .contains(name);
        }

        private StoredFacts facts(ListedObject object, StoredSummary summary) {
            return new ListedFacts(
                    StoredUrl.ofKey(object.key()),
                    summary,
                    object,
                    nowMillis,
                    () -> store.isInRam(store.key(object.key())));
        }

        private void count(String host, long bytes) {
            String counted = hosts.containsKey(host) || hosts.size() < HOSTS_MAX ? host : OTHER_HOSTS;
            HostCount before = hosts.get(counted);
            hosts.put(
                    counted,
                    before == null
                            ? new HostCount(counted, 1, bytes)
                            : new HostCount(counted, before.objects() + 1, before.bytes() + bytes));
        }

        @Override
        public boolean continues() {
            return System.nanoTime() - endNanos < 0;
        }

        ListReport report(ListResult result) {
            List<HostCount> counted = new ArrayList<>(hosts.values());
            counted.sort(Comparator.comparingLong(HostCount::objects).reversed().thenComparing(HostCount::host));
            String obstacle = result.obstacle();
            String reason = result.isWhole() && obstacle == null
                    ? null
                    : obstacle != null
                            ? "no inventory: " + obstacle
                            : "the inventory is being written from the segments, or a storage path is offline";
            return new ListReport(objects, counted, result.next(), reason == null, reason);
        }
    }
}
