package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredSummary;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.expression.stored.ListedFacts;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.InvalidationKind;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.store.CacheStore;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts the objects of the inventory (the table of stored objects) that a purge covers. The count runs in slices on
 * the inventory's thread, which applies changes of the store between them. Between slices, the count opens objects for
 * which an expression needs more data than the inventory contains.
 *
 * <p>Thread-safe; written by one thread at a time.
 */
final class PurgeCount implements ListVisitor {
    /** Limit of collected URLs. */
    static final int URLS_MAX = 20;

    /** Time of a slice; short, because the counts and listings of a process share one thread. */
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long MILLIS_PER_SECOND = 1000;
    /** Number of tags of an object that the inventory keeps. */
    private static final int TAGS_KEPT = 64;

    /** Limit of objects that are opened after a slice. */
    private static final int UNDECIDED_MAX = 64;

    private final CacheStore<StoredHead> store;
    private final Invalidator invalidator;
    private final @Nullable PurgedPattern pattern;
    private final List<InvalidationScope> scopes;
    /** Stamp (time and sequence number) of the purge. The purge covers only objects with a lower stamp. */
    private final long ownStamp;
    /** Stamp of the latest earlier hard purge of each scope; objects with a lower stamp are gone already. */
    private final long[] previousStamps;

    private final boolean hasTagScopes;
    private final boolean hasGroupScopes;
    private final boolean hasOnlyUrlScopes;
    private final CompletableFuture<PurgeCount> firstSlice = new CompletableFuture<>();
    private final CompletableFuture<PurgeCount> end = new CompletableFuture<>();
    private final Set<String> urls = new LinkedHashSet<>();
    /** Keys of objects that are opened after the slice, because the inventory has too little data about them. */
    private final List<StoreKey> undecided = new ArrayList<>();

    private long sliceEndNanos;
    /**
     * True if objects may be missing, because a part of the inventory is still being written or a storage path is
     * offline.
     */
    private boolean hasMissing;

    /** True if an object may have more tags than the inventory keeps. */
    private boolean hasManyTags;

    /** True if an object may have more cache groups than the inventory keeps. */
    private boolean hasManyGroups;

    private volatile List<String> firstUrls = List.of();
    /** True if a covered object has a URL that was not collected because of the limit. */
    private volatile boolean hasMoreUrls;

    private volatile long objects;
    private volatile long bytes;
    /** Number of keys in the inventory that the count has examined. */
    private volatile long examined;

    private volatile boolean cancelled;
    private volatile boolean countedAll;
    private volatile @Nullable String obstacle;
    private volatile @Nullable String note;

    private PurgeCount(
            CacheStore<StoredHead> store,
            Invalidator invalidator,
            List<InvalidationScope> scopes,
            @Nullable PurgedPattern pattern,
            long ownStamp,
            long[] previousStamps) {
        this.store = store;
        this.invalidator = invalidator;
        this.pattern = pattern;
        this.scopes = scopes;
        this.ownStamp = ownStamp;
        this.previousStamps = previousStamps;
        this.hasOnlyUrlScopes = pattern == null && scopes.stream().allMatch(InvalidationScope::isOfUrls);
        this.hasTagScopes = scopes.stream().anyMatch(scope -> scope.tag() != null);
        this.hasGroupScopes = scopes.stream().anyMatch(scope -> scope.kind() == InvalidationKind.GROUP);
    }

    /** Creates a count for a dry run. */
    static PurgeCount ofDryRun(CacheStore<StoredHead> store, Invalidator invalidator, List<InvalidationScope> scopes) {
        return new PurgeCount(store, invalidator, scopes, null, Long.MAX_VALUE, new long[scopes.size()]);
    }

    /**
     * Creates a count for a purge by pattern, or for its dry run.
     *
     * @param pattern the pattern with its stamp; for a dry run with a stamp above all others
     */
    static PurgeCount of(CacheStore<StoredHead> store, Invalidator invalidator, PurgedPattern pattern) {
        return new PurgeCount(store, invalidator, List.of(), pattern, pattern.stamp(), new long[0]);
    }

    /**
     * Creates a count for a purge that is in force.
     *
     * @param stamp stamp of the purge
     * @param previousStamps stamp of the latest earlier hard purge of each scope; 0 for none
     */
    static PurgeCount of(
            CacheStore<StoredHead> store,
            Invalidator invalidator,
            List<InvalidationScope> scopes,
            long stamp,
            long[] previousStamps) {
        return new PurgeCount(store, invalidator, scopes, null, stamp, previousStamps);
    }

    /** Starts the count; never blocks. */
    void start() {
        startSlice(null);
    }

    private void startSlice(@Nullable String after) {
        sliceEndNanos = System.nanoTime() + SLICE_NANOS;
        store.list(after, this, Runnable::run, result -> openUndecided(result, 0));
    }

    /** Opens the undecided objects one after another, beginning at an index, and then ends the slice. */
    private void openUndecided(ListResult result, int index) {
        if (index == undecided.size() || cancelled) {
            undecided.clear();
            onSlice(result);
            return;
        }
        // The time of the slice is over. Receivers of the first slice do not wait until the other objects are opened.
        if (System.nanoTime() - sliceEndNanos > 0) {
            firstUrls = urls.stream().sorted().toList();
            firstSlice.complete(this);
        }
        StoreKey key = undecided.get(index);
        store.open(key, Runnable::run, object -> {
            if (object != null) {
                countOpened(key, object);
            }
            openUndecided(result, index + 1);
        });
    }

    /** Counts an object if the purge covers it; releases it. */
    private void countOpened(StoreKey key, StoredObject<StoredHead> object) {
        try {
            StoredUrl url = StoredUrl.ofKey(key.bytes());
            if (pattern != null && pattern.covers(url, object.head(), object.length())) {
                add(url.text(), object.length());
            }
        } finally {
            object.release();
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time writes
    private void add(String url, long bodyLength) {
        objects = objects + 1;
        bytes = bytes + Math.max(0, bodyLength);
        if (urls.size() < URLS_MAX) {
            urls.add(url);
        } else if (!urls.contains(url)) {
            hasMoreUrls = true;
        }
    }

    private void onSlice(ListResult result) {
        boolean isStopped = cancelled;
        firstUrls = urls.stream().sorted().toList();
        obstacle = result.obstacle();
        note = note(result);
        boolean isOver = result.next() == null || isStopped || result.obstacle() != null;
        if (isOver) {
            countedAll = result.next() == null && !isStopped && result.obstacle() == null;
            end.complete(this);
        }
        firstSlice.complete(this);
        if (!isOver) {
            startSlice(result.next());
        }
    }

    private @Nullable String note(ListResult result) {
        List<String> notes = new ArrayList<>();
        if (result.obstacle() != null) {
            notes.add("the count ended early: " + result.obstacle());
        } else {
            // A slice reports only the volumes that it visited.
            hasMissing |= !result.isWhole();
            if (hasMissing) {
                notes.add("the inventory is being written from the segments, or a storage path is offline");
            }
        }
        if (hasManyTags) {
            notes.add("the inventory has only the first " + TAGS_KEPT + " tags of an object");
        }
        if (hasManyGroups) {
            notes.add("the inventory has only the first " + StoredSummary.GROUPS_MAX + " cache groups of an object");
        }
        return notes.isEmpty() ? null : String.join("; ", notes);
    }

    /** Stops the count soon; does nothing after its end. */
    void cancel() {
        cancelled = true;
    }

    boolean isOver() {
        return end.isDone();
    }

    /** Returns true if all objects were counted. Final once the count has ended; false until then. */
    boolean isWhole() {
        return countedAll;
    }

    /** Returns the reason why objects cannot be counted; null for none. */
    @Nullable
    String obstacle() {
        return obstacle;
    }

    /** Completes with the first slice, usually within a second. */
    CompletionStage<PurgeCount> firstSlice() {
        return firstSlice;
    }

    /** Completes when all objects are counted, the count was cancelled or it ended early. */
    CompletionStage<PurgeCount> end() {
        return end;
    }

    /** Returns the present count. */
    Count count() {
        // The end is read before the numbers, which are final once the count has ended.
        boolean isOver = isOver();
        return new Count(
                objects,
                bytes,
                firstUrls,
                hasMoreUrls,
                examined,
                Math.max(examined, store.inventory().entries()),
                isOver,
                note);
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    public boolean mayMatch(byte[] key) {
        examined = examined + 1;
        if (pattern != null) {
            return pattern.couldCover(StoredUrl.ofKey(key));
        }
        if (!hasOnlyUrlScopes) {
            return true;
        }
        int urlLength = lengthBefore(key, lengthBefore(key, key.length, 0), ' ');
        String text = new String(key, 0, urlLength, StandardCharsets.ISO_8859_1);
        return TargetUri.parseAbsolute(text) instanceof TargetUri url
                && scopes.stream().anyMatch(scope -> scope.covers(url, Labels.NONE));
    }

    @Override
    public boolean continues() {
        return !cancelled && System.nanoTime() - sliceEndNanos < 0;
    }

    @Override
    public boolean visit(ListedObject object) {
        StoredSummary summary = StoredSummary.read(object.summary().text());
        byte[] key = object.key();
        int primaryLength = lengthBefore(key, key.length, 0);
        boolean isVariant = primaryLength < key.length;
        // A Vary marker, which names the fields of a URL's variants, is not a response.
        if (summary.status() == 0 || (isVariant && !CacheListing.isReachable(store, key, primaryLength))) {
            return true;
        }
        // A space separates the URL from other parts of the key.
        int urlLength = lengthBefore(key, primaryLength, ' ');
        String text = new String(key, 0, urlLength, StandardCharsets.ISO_8859_1);
        if (TargetUri.parseAbsolute(text) instanceof TargetUri url && covers(url, object, summary)) {
            add(text, object.bodyLength());
        }
        return undecided.size() < UNDECIDED_MAX;
    }

    /** Returns the number of bytes before the first byte {@code stop}; {@code end} if that byte does not occur. */
    private static int lengthBefore(byte[] key, int end, int stop) {
        int length = 0;
        while (length < end && key[length] != stop) {
            length++;
        }
        return length;
    }

    private boolean covers(TargetUri url, ListedObject object, StoredSummary summary) {
        long stamp = summary.stamp() >= 0
                ? summary.stamp()
                : lastStampOf(object.summary().storedAtSeconds());
        if (stamp >= ownStamp) {
            return false;
        }
        TagList tags = new TagList();
        for (String tag : object.tags()) {
            byte[] bytesOfTag = tag.getBytes(StandardCharsets.UTF_8);
            tags.addOne(bytesOfTag, 0, bytesOfTag.length);
        }
        hasManyTags |= hasTagScopes && object.tags().size() >= TAGS_KEPT;
        hasManyGroups |= hasGroupScopes && summary.groups().length >= StoredSummary.GROUPS_MAX;
        Labels labels = Labels.of(summary.groups(), tags.tags().onSite(summary.site()));
        if (pattern != null) {
            return !isGone(url, stamp, labels, object, summary) && coversOrDefers(pattern, object, summary);
        }
        for (int i = 0; i < previousStamps.length; i++) {
            if (stamp >= previousStamps[i] && scopes.get(i).covers(url, labels)) {
                return !isGone(url, stamp, labels, object, summary);
            }
        }
        return false;
    }

    /**
     * Returns true if a pattern covers an object. If the inventory has too little data to decide, queues the object to
     * be opened, and returns false.
     */
    private boolean coversOrDefers(PurgedPattern purge, ListedObject object, StoredSummary summary) {
        ListedFacts facts = facts(purge, object, summary);
        if (!purge.couldCover(facts)) {
            return false;
        }
        if (purge.couldMiss(facts)) {
            undecided.add(store.key(object.key()));
            return false;
        }
        return true;
    }

    /**
     * Returns the values of an object's fields at the time of a purge. The time is in whole seconds, as in the
     * inventory.
     */
    private static ListedFacts facts(PurgedPattern purge, ListedObject object, StoredSummary summary) {
        long millis = TimeUnit.SECONDS.toMillis(purge.millis() / MILLIS_PER_SECOND);
        return new ListedFacts(StoredUrl.ofKey(object.key()), summary, object, millis, () -> false);
    }

    /**
     * Returns whether an earlier hard purge covers the object. The inventory still lists such an object until its space
     * is reclaimed.
     */
    private boolean isGone(TargetUri url, long stamp, Labels labels, ListedObject object, StoredSummary summary) {
        Outdated outdated = invalidator.invalidations().of(url, stamp, labels);
        if (outdated != null
                && !outdated.isSoft()
                && invalidator.invalidations().purgeStamp(url, stamp, labels, outdated) < ownStamp) {
            return true;
        }
        for (PurgedPattern other : invalidator.patterns()) {
            if (!other.isSoft()
                    && stamp < other.stamp()
                    && other.stamp() < ownStamp
                    && !other.couldMiss(facts(other, object, summary))) {
                return true;
            }
        }
        return false;
    }

    /** Returns a stamp that is higher than all stamps of the second in which an object was stored. */
    private static long lastStampOf(long seconds) {
        return ((seconds + 1) * MILLIS_PER_SECOND) << PurgeId.TIME_SHIFT;
    }
}
