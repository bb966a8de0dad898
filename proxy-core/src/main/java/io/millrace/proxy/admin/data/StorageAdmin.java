package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.CurveSource;
import io.millrace.proxy.admin.cache.StorageControl;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.store.CacheStore;
import io.millrace.store.StoreStatistics;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The volumes and the RAM tier of a proxy's store for the admin API. Thread-safe. */
public final class StorageAdmin implements StorageControl, CurveSource {
    private final CacheStore<StoredHead> store;

    public StorageAdmin(CacheStore<StoredHead> store) {
        this.store = store;
    }

    @Override
    public List<Volume> volumes() {
        return store.statistics().volumes().stream().map(StorageAdmin::volume).toList();
    }

    @Override
    public @Nullable CurveView curve() {
        StoreStatistics.HitRatioCurve curve = store.curve();
        return curve == null
                ? null
                : new CurveView(
                        notReadyReason(curve.stage()),
                        curve.sinceMillis() / 1000,
                        curve.requestsTotal(),
                        curve.ramHits(),
                        curve.evictsByRecency() ? "lru" : "w-tinylfu",
                        curve.ramBytes(),
                        curve.sampleRate(),
                        curve.sampledKeys(),
                        curve.requests(),
                        curve.lost(),
                        curve.points().stream().map(StorageAdmin::size).toList(),
                        curve.groups().stream()
                                .map(group -> new Host(group.name(), group.requests(), group.hits()))
                                .toList());
    }

    private static String notReadyReason(StoreStatistics.CurveStage stage) {
        return stage == StoreStatistics.CurveStage.READY ? "" : stage.name().toLowerCase(Locale.ROOT);
    }

    private static Size size(StoreStatistics.CurvePoint point) {
        return new Size(
                point.scale(),
                point.ramBytes(),
                new Ratio(point.hits(), point.hitBytes()),
                new Ratio(point.lruHits(), point.lruHitBytes()),
                new Ratio(point.s3FifoHits(), point.s3FifoHitBytes()));
    }

    private static Volume volume(StoreStatistics.Volume volume) {
        return new Volume(
                volume.path().toString(),
                volume.name(),
                volume.placement(),
                volume.state().name().toLowerCase(Locale.ROOT),
                volume.bytes(),
                volume.bytesMax(),
                volume.entries(),
                volume.pinnedSegments(),
                volume.queuedBytes(),
                volume.ring().bytesWritten(),
                volume.ring().bytesCarried(),
                volume.ring().segmentsReclaimed(),
                volume.ring().objectsRefused(),
                volume.ring().bytesPinned(),
                volume.ring().pinsBroken(),
                volume.indexEvictions(),
                volume.errors(),
                volume.lastError());
    }

    @Override
    public CompletionStage<List<Volume>> offline(String path, String reason) {
        Path parsed = parsed(path);
        return parsed == null
                ? CompletableFuture.failedFuture(unknown(path))
                : answer(path, store.offline(parsed, reason.isEmpty() ? "no reason given" : reason));
    }

    @Override
    public CompletionStage<List<Volume>> online(String path) {
        Path parsed = parsed(path);
        return parsed == null ? CompletableFuture.failedFuture(unknown(path)) : answer(path, store.online(parsed));
    }

    private static @Nullable Path parsed(String path) {
        try {
            return Path.of(path);
        } catch (InvalidPathException e) {
            return null;
        }
    }

    private CompletionStage<List<Volume>> answer(String given, CompletionStage<List<Path>> done) {
        return done.handle((changed, failure) -> {
            if (failure != null) {
                throw new CompletionException(refused(given, failure));
            }
            return store.statistics().volumes().stream()
                    .filter(volume -> changed.contains(volume.path()))
                    .map(StorageAdmin::volume)
                    .toList();
        });
    }

    private AdminException refused(String path, Throwable failure) {
        return failure instanceof NoSuchFileException
                ? unknown(path)
                : new AdminException(409, "storage-not-changed", String.valueOf(failure.getMessage()));
    }

    private AdminException unknown(String path) {
        List<String> configured = store.statistics().volumes().stream()
                .map(volume -> volume.path().toString())
                .toList();
        return new AdminException(
                400, "unknown-path", path + " is not a storage path; configured storage paths: " + configured);
    }
}
