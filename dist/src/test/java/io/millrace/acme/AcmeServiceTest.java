package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.AcmeConfig.Issuer;
import io.millrace.proxy.config.tls.AcmeKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the service with an issuer in memory and a clock that the test sets. */
class AcmeServiceTest {
    private static final String NAME = "www.example.com";
    private static final String FIRST = "https://first.example/directory";
    private static final String SECOND = "https://second.example/directory";
    private static final long DAY = 86_400;

    /** Issues texts as certificates, valid for 90 days. */
    private final class FakeIssuer implements CertificateIssuer {
        final List<String> orders = Collections.synchronizedList(new ArrayList<>());
        final List<String> down = new ArrayList<>();
        final List<String> refusing = new ArrayList<>();
        final Map<String, Long> retrySeconds = new HashMap<>();
        RenewalTime.@Nullable Window window;

        @Nullable
        CountDownLatch slow;

        @Override
        public Issued issue(Issuer issuer, String name, @Nullable String previousPem)
                throws IssuanceException, InterruptedException {
            CountDownLatch latch = slow;
            if (latch != null && name.startsWith("slow.")) {
                latch.await();
            }
            if (down.contains(issuer.directory())) {
                long retry = retrySeconds.getOrDefault(issuer.directory(), 0L);
                throw new IssuanceException("connection refused", false, retry, new IOException());
            }
            orders.add(issuer.directory() + " " + name);
            if (refusing.contains(issuer.directory())) {
                throw new IssuanceException("the name is blocked", true, 0, new IOException());
            }
            return new Issued("certificate " + orders.size(), seconds + 90 * DAY);
        }

        @Override
        public @Nullable SuggestedRenewal suggestedRenewal(Issuer issuer, String pem) {
            RenewalTime.Window now = window;
            return now == null ? null : new SuggestedRenewal(now, seconds + 6 * 3600);
        }
    }

    @TempDir
    Path directory;

    private final FakeIssuer issuer = new FakeIssuer();
    private long seconds = 1_800_000_000;
    private @Nullable AcmeService service;
    private AcmeConfig config = acme(Map.of());

    private AcmeConfig acme(Map<String, String> settings) {
        ProxyConfig.Builder builder = ProxyConfig.builder()
                .set("tls.acme.names", NAME)
                .set("tls.acme.accept_terms", "true")
                .acmeIssuer(
                        ConfigValues.builder().set(AcmeKeys.DIRECTORY, FIRST).build())
                .acmeIssuer(
                        ConfigValues.builder().set(AcmeKeys.DIRECTORY, SECOND).build());
        settings.forEach(builder::set);
        return builder.build().acme();
    }

    private AcmeService start() {
        AcmeService made = new AcmeService(
                () -> config.storedIn(directory), () -> seconds * 1000, (settings, storage) -> issuer, Runnable::run);
        service = made;
        return made;
    }

    @AfterEach
    void close() {
        if (service != null) {
            service.close();
        }
    }

    /** Runs the service for some seconds of the clock. */
    private void pass(long more) throws InterruptedException {
        AcmeService running = service == null ? start() : service;
        for (long each = 0; each <= more; each += Math.max(1, more)) {
            seconds += each;
            for (int i = 0; i < 4; i++) {
                running.tick();
            }
        }
    }

    private AcmeRecord record() throws IOException {
        return AcmeRecord.all(new AcmeFiles(directory)).get(0);
    }

    private Path certificate() {
        return directory.resolve("certificates").resolve(NAME + ".pem");
    }

    @Test
    void firstCertificateIsStoredForThisUserOnly() throws Exception {
        pass(0);
        assertEquals(List.of(FIRST + " " + NAME), issuer.orders);
        assertEquals("certificate 1", Files.readString(certificate()));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(certificate())));
        assertEquals("valid", record().state(seconds));
        assertEquals(seconds + 60 * DAY, record().renewalSeconds());
    }

    @Test
    void renewsWhenItIsDueAndNotBefore() throws Exception {
        pass(0);
        pass(60 * DAY - 1);
        assertEquals(1, issuer.orders.size());
        pass(1);
        assertEquals(2, issuer.orders.size());
        assertEquals("certificate 2", Files.readString(certificate()));
    }

    @Test
    void renewalInformationOfTheIssuerTakesPrecedence() throws Exception {
        issuer.window = new RenewalTime.Window(seconds + 10 * DAY, seconds + 10 * DAY);
        pass(0);
        assertEquals(seconds + 10 * DAY, record().renewalSeconds());
        // The renewal window of the previous certificate does not apply to the next one.
        pass(10 * DAY);
        issuer.window = null;
        assertEquals(2, issuer.orders.size());
        pass(3599);
        assertEquals(2, issuer.orders.size());
    }

    @Test
    void nextIssuerIsUsedWhereOneIsDown() throws Exception {
        issuer.down.add(FIRST);
        pass(0);
        assertEquals(List.of(SECOND + " " + NAME), issuer.orders);
        assertEquals(SECOND, record().issuer());
    }

    @Test
    void issuersThatAreDownForADayLeaveTheCertificateInUse() throws Exception {
        pass(0);
        issuer.down.addAll(List.of(FIRST, SECOND));
        pass(60 * DAY);
        assertEquals("failing", record().state(seconds));
        assertTrue(record().error().contains("connection refused"), record()::error);
        pass(DAY);
        assertEquals("certificate 1", Files.readString(certificate()));
        assertTrue(record().failures() >= 2, record()::text);
        issuer.down.clear();
        pass(6 * 3600);
        assertEquals("certificate 2", Files.readString(certificate()));
        assertEquals(0, record().failures());
    }

    @Test
    void pauseSurvivesARestart() throws Exception {
        issuer.refusing.addAll(List.of(FIRST, SECOND));
        pass(0);
        assertEquals(2, issuer.orders.size(), "each issuer is asked once");
        close();
        start();
        pass(0);
        assertEquals(2, issuer.orders.size());
        pass(60);
        assertEquals(4, issuer.orders.size());
        assertEquals(2, record().failures());
    }

    @Test
    void ordersPerHourAreLimited() throws Exception {
        config = acme(Map.of("tls.acme.issuances_per_name_per_hour", "2"));
        pass(0);
        AcmeService running = service;
        String problem = "";
        for (int i = 0; i < 3; i++) {
            CompletableFuture<AcmeRecord> renewed = running.renew(NAME);
            // The request is passed to the service's own thread.
            running.renew("handed.example").handle((nothing, failure) -> null).join();
            pass(1);
            problem = renewed.getNow(AcmeRecord.of(NAME)).error();
        }
        assertEquals(2, issuer.orders.size());
        assertTrue(problem.contains("issuances_per_name_per_hour"), problem);
        assertEquals("valid", record().state(seconds), "the renewal is not due, so nothing is in danger");
        assertEquals("certificate 2", Files.readString(certificate()));
    }

    @Test
    void certificateThatCannotBeStoredIsKeptAndNotOrderedAgain() throws Exception {
        pass(0);
        // A directory in place of the file: every write fails, for every user.
        Files.delete(certificate());
        Files.createDirectories(certificate().resolve("in-the-way"));
        pass(60 * DAY);
        assertEquals(2, issuer.orders.size());
        assertTrue(record().error().contains("storage"), record()::error);
        Files.delete(certificate().resolve("in-the-way"));
        Files.delete(certificate());
        pass(120);
        assertEquals("certificate 2", Files.readString(certificate()));
        assertEquals(2, issuer.orders.size());
    }

    @Test
    void nothingIsOrderedWhileRecordsCannotBeWritten() throws Exception {
        Files.createDirectories(
                directory.resolve("records").resolve(AcmeRecord.fileName(NAME)).resolve("x"));
        pass(0);
        assertEquals(List.of(), issuer.orders);
    }

    @Test
    void nameThatAnotherProcessWorksOnIsLeftToIt() throws Exception {
        DirectoryStorage storage = DirectoryStorage.open(directory);
        try (AcmeStorage.Lease held = storage.lease(NAME).orElseThrow()) {
            assertFalse(storage.lease(NAME).isPresent(), held::toString);
            pass(0);
            assertEquals(List.of(), issuer.orders);
        }
        pass(60);
        assertEquals(1, issuer.orders.size());
    }

    @Test
    void launchersThatShareAStorageOrderOnceAndPauseTogether() throws Exception {
        start();
        AcmeService first = service;
        start();
        AcmeService second = service;
        for (AcmeService each : List.of(first, second)) {
            each.tick();
        }
        assertEquals(1, issuer.orders.size());
        // The first service renews the certificate; the second one loads it.
        seconds += 60 * DAY;
        first.tick();
        second.tick();
        assertEquals(2, issuer.orders.size());
        issuer.refusing.addAll(List.of(FIRST, SECOND));
        seconds += 60 * DAY;
        first.tick();
        second.tick();
        assertEquals(4, issuer.orders.size(), "the pause after the failure of the first one holds for the second one");
        assertEquals(1, record().failures());
        first.close();
    }

    @Test
    void adviceDoesNotReplaceTheRecordOfAnotherLauncher() throws Exception {
        start();
        AcmeService first = service;
        start();
        AcmeService second = service;
        first.tick();
        second.tick();
        issuer.window = new RenewalTime.Window(seconds + 30 * DAY, seconds + 30 * DAY);
        seconds += 7 * 3600;
        first.tick();
        seconds += 30 * DAY;
        first.tick();
        assertEquals(2, issuer.orders.size());
        long renewed = record().issuedSeconds();
        second.tick();
        second.tick();
        assertEquals(renewed, record().issuedSeconds());
        assertEquals(2, issuer.orders.size());
        first.close();
    }

    @Test
    void issuerWithRetryAfterDoesNotDelayTheOthers() throws Exception {
        issuer.down.addAll(List.of(FIRST, SECOND));
        issuer.retrySeconds.put(FIRST, seconds + 30 * DAY);
        pass(0);
        assertEquals(seconds + 60, record().retrySeconds());
        issuer.retrySeconds.put(SECOND, seconds + 30 * DAY);
        pass(60);
        assertEquals(seconds + DAY, record().retrySeconds(), "no pause is longer than a day");
    }

    @Test
    void slowOrderDoesNotDelayOtherNames() throws Exception {
        config = acme(Map.of("tls.acme.names", "slow.example.com, " + NAME));
        ExecutorService threads = Executors.newFixedThreadPool(2);
        issuer.slow = new CountDownLatch(1);
        AcmeService running = new AcmeService(
                () -> config.storedIn(directory), () -> seconds * 1000, (settings, storage) -> issuer, threads);
        service = running;
        running.tick();
        Awaitility.await().until(() -> Files.exists(certificate()));
        assertTrue(Files.notExists(certificate().resolveSibling("slow.example.com.pem")));
        issuer.slow.countDown();
        Awaitility.await().until(() -> Files.exists(certificate().resolveSibling("slow.example.com.pem")));
        threads.shutdown();
    }

    @Test
    void certificateWhoseFileWasDeletedIsOrderedAgain() throws Exception {
        pass(0);
        Files.delete(certificate());
        close();
        start();
        pass(1);
        assertEquals("certificate 2", Files.readString(certificate()));
    }

    @Test
    void missingStorageIsReportedAndEmptiedStorageUsedAgain() throws Exception {
        pass(0);
        Path away = directory.resolveSibling(directory.getFileName() + "-away");
        Files.move(directory, away);
        pass(60 * DAY);
        assertEquals(1, issuer.orders.size());
        assertTrue(Files.notExists(directory), "a storage that is not mounted is not rebuilt");
        Files.createDirectory(directory);
        pass(60);
        assertEquals("certificate 2", Files.readString(certificate()));
        assertEquals(0, record().failures());
        try (Stream<Path> all = Files.walk(away)) {
            all.sorted(Comparator.reverseOrder())
                    .forEach(each -> assertTrue(each.toFile().delete()));
        }
    }

    @Test
    void unusedCertificateIsDeletedLongAfterItsEnd() throws Exception {
        pass(0);
        config = acme(Map.of("tls.acme.names", "other.example.com"));
        pass(90 * DAY);
        assertTrue(Files.exists(certificate()));
        pass(30 * DAY);
        pass(1);
        assertTrue(Files.notExists(certificate()));
        assertTrue(AcmeRecord.all(new AcmeFiles(directory)).stream()
                .noneMatch(each -> each.name().equals(NAME)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"challenges/http-01/../../x", "records//x", "records/.x", "../x", "requests/a/../b"})
    void pathsOfIssuersAndClientsStayInTheStorage(String path) throws Exception {
        DirectoryStorage storage = DirectoryStorage.open(directory);
        assertThrows(IOException.class, () -> storage.put(path, "x"));
        assertThrows(IOException.class, () -> storage.get(path));
        assertThrows(IOException.class, () -> storage.delete(path));
        assertThrows(IOException.class, () -> storage.lease("../../" + path));
    }

    @Test
    void answersThatAKilledLauncherLeftAreDeleted() throws Exception {
        DirectoryStorage storage = DirectoryStorage.open(directory);
        storage.put("challenges/http-01/old", "x");
        storage.put("challenges/http-01/new", "x");
        Files.setLastModifiedTime(
                directory.resolve("challenges/http-01/old"),
                FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        assertEquals(List.of("new"), DirectoryStorage.open(directory).list("challenges/http-01"));
    }

    @Test
    void recordsSurviveBeingWrittenAndRead() {
        AcmeRecord record = new AcmeRecord("*.example.com", FIRST, 1, 2, 3, 4, 5, "a: b\nc=d # é", 6, List.of(7L, 8L));
        assertEquals(record, AcmeRecord.parse(record.text()));
    }
}
