package io.millrace.proxy.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.TlsConfig;
import io.millrace.proxy.config.tls.TlsConfig.Certificates;
import io.millrace.proxy.config.tls.TlsConfig.UnknownName;
import io.millrace.proxy.tls.CertificateFault.Kind;
import io.millrace.proxy.tls.TestAuthority.Made;
import io.millrace.proxy.tls.ocsp.OcspExtensions;
import io.millrace.proxy.tls.ocsp.Stapling;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.helpers.MessageFormatter;

/** Tests the choice of certificates, and changed files; the test triggers the checks. */
class CertificateStoreTest {
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("2050-01-01T00:00:00Z");
    private static final TestAuthority AUTHORITY = new TestAuthority("store");

    @TempDir
    Path directory;

    /** By this clock, the files of this test have not changed for a long time. */
    private final AtomicLong now = new AtomicLong();

    @BeforeEach
    void setClock() {
        now.set(System.currentTimeMillis() + Duration.ofHours(1).toMillis());
    }

    private static Certificates pair(CertificateFiles files, String... names) {
        return new Certificates(files.certificate(), files.key(), null, List.of(names));
    }

    private static Certificates in(Path directory) {
        return new Certificates(null, null, directory, List.of());
    }

    private static TlsConfig config(String defaultName, UnknownName unknown, List<Certificates> certificates) {
        return new TlsConfig(
                certificates, defaultName, unknown, Duration.ofSeconds(5).toNanos(), null, null);
    }

    private CertificateStore store(Certificates... certificates) {
        return store(config(null, UnknownName.DEFAULT, List.of(certificates)));
    }

    private CertificateStore store(TlsConfig config) {
        CertificateStore store = new CertificateStore(config, now::get);
        store.checkFiles();
        return store;
    }

    private static String serials(CertificateStore store, String name) {
        CertificateSet set = store.index().find(name);
        if (set == null) {
            return "none";
        }
        List<String> serials = new ArrayList<>();
        set.certificates().forEach(each -> serials.add(each.facts().serial()));
        return String.join(" ", serials);
    }

    private static String serial(Made made) {
        return made.certificate().getSerialNumber().toString(16);
    }

    @Test
    void exactNamesGoBeforeWildcardsAndTheFirstCertificateIsTheDefault() throws IOException {
        Made first = AUTHORITY.issue("first.example");
        Made wild = AUTHORITY.issue("*.example.com");
        Made exact = AUTHORITY.issue("www.example.com");
        List<Certificates> all = List.of(
                pair(first.write(directory, "first")),
                pair(wild.write(directory, "wild")),
                pair(exact.write(directory, "exact")));
        CertificateStore store = store(config(null, UnknownName.DEFAULT, all));
        assertEquals(serial(exact), serials(store, "www.example.com"));
        assertEquals(serial(wild), serials(store, "img.example.com"));
        assertEquals(serial(first), serials(store, "example.com"), "a wildcard is not the domain itself");
        assertEquals(serial(first), serials(store, "a.b.example.com"), "a wildcard stands for one label");
        assertEquals(serial(first), serials(store, null));

        store.configure(config("img.example.com", UnknownName.REJECT, all));
        assertEquals(serial(wild), serials(store, null), "clients without a name get the default all the same");
        assertEquals("none", serials(store, "unknown.example"));
    }

    @Test
    void bothKindsOfKeysStandSideBySideAndOwnNamesReplaceThoseOfTheCertificate() throws IOException {
        Made ec = AUTHORITY.issue("www.example.com");
        Made rsa = AUTHORITY.issue(TestAuthority.rsaKeys(), START, END, "www.example.com");
        Made second = AUTHORITY.issue("www.example.com");
        CertificateStore store = store(
                pair(rsa.write(directory, "rsa")),
                pair(ec.write(directory, "ec")),
                pair(second.write(directory, "second"), "named.example", "*.named.example"));
        assertEquals(serial(ec) + " " + serial(rsa), serials(store, "www.example.com"));
        assertEquals(serial(second), serials(store, "named.example"));
        assertEquals(serial(second), serials(store, "x.named.example"));
    }

    @Test
    void everyWayToReplaceAFileIsDetectedAndOnlyChangedFilesAreReadAgain() throws IOException {
        Made still = AUTHORITY.issue("still.example");
        Path live = Files.createDirectory(directory.resolve("live"));
        Path archive = Files.createDirectory(directory.resolve("archive"));
        still.write(live, "still");
        Made[] versions = new Made[5];
        for (int i = 0; i < versions.length; i++) {
            versions[i] = AUTHORITY.issue("www.example.com");
            Files.writeString(archive.resolve(i + ".pem"), versions[i].chainPem() + versions[i].keyPem());
        }
        Path file = live.resolve("www.pem");
        Files.createSymbolicLink(file, archive.resolve("0.pem"));
        CertificateStore store = store(in(live));
        CertificateSet before = store.index().find("still.example");
        ServerContexts contexts = new ServerContexts(
                Runnable::run,
                ServerTlsConfig.DEFAULTS,
                true,
                TicketKeys.generate(new SecureRandom()),
                new Stapling(null, Executors.newSingleThreadScheduledExecutor(), now::get, changed -> {}),
                now::get);
        store.attach(contexts);
        contexts.prepare(before);
        contexts.prepare(store.index().find("www.example.com"));
        assertEquals(serial(versions[0]), serials(store, "www.example.com"));

        Path link = Files.createSymbolicLink(live.resolve(".new"), archive.resolve("1.pem"));
        Files.move(link, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        store.checkFiles();
        assertEquals(serial(versions[1]), serials(store, "www.example.com"), "another target of the link");
        assertEquals(1, contexts.size(), "the context of the version before is given up, others are kept");

        Files.copy(archive.resolve("2.pem"), archive.resolve("1.pem"), StandardCopyOption.REPLACE_EXISTING);
        store.checkFiles();
        assertEquals(serial(versions[2]), serials(store, "www.example.com"), "another content behind the link");

        Files.move(archive.resolve("3.pem"), file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        store.checkFiles();
        assertEquals(serial(versions[3]), serials(store, "www.example.com"), "renamed over it");

        FileTime time = Files.getLastModifiedTime(file);
        Files.writeString(file, versions[4].chainPem() + versions[4].keyPem());
        Files.setLastModifiedTime(file, time);
        store.checkFiles();
        assertEquals(serial(versions[4]), serials(store, "www.example.com"), "written in place, with the old time");

        assertSame(before, store.index().find("still.example"));
        CertificateIndex same = store.index();
        store.checkFiles();
        assertSame(same, store.index(), "nothing changed");
        store.configure(config("still.example", UnknownName.DEFAULT, List.of(in(live))));
        assertNotSame(same, store.index());
        assertSame(before, store.index().find("still.example"), "other settings load no certificate again");

        contexts.close();
        Files.delete(file);
        Made added = AUTHORITY.issue("added.example");
        added.write(live, "added");
        store.checkFiles();
        assertEquals(serial(added), serials(store, "added.example"));
        assertEquals(serial(still), serials(store, "www.example.com"), "a deleted file of a directory is gone");
    }

    /** A storage that is not mounted looks like an empty directory. */
    @Test
    void directoryThatIsEmptiedKeepsItsCertificatesInUse() throws IOException {
        Path live = Files.createDirectories(directory.resolve("emptied"));
        Made made = AUTHORITY.issue("kept.example");
        made.write(live, "kept");
        CertificateStore store = store(in(live));
        try (var files = Files.list(live)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        store.checkFiles();
        assertEquals(serial(made), serials(store, "kept.example"));
        Made other = AUTHORITY.issue("other.example");
        other.write(live, "other");
        store.checkFiles();
        assertEquals(serial(other), serials(store, "kept.example"), "the directory is in use again");
    }

    @ParameterizedTest
    @CsvSource({"90, 15, false", "90, 13, true", "6, 2, false", "6, 1, true", "0, 0, false", "90, -1, true"})
    void certificateEndsSoonWithin14DaysOrAQuarterOfItsLifetime(int days, int left, boolean soon) {
        long day = 86_400;
        ServerCertificate.Facts facts = new ServerCertificate.Facts(
                List.of(), "", 0, days * day, "", "", "", List.of(), List.of(), new OcspExtensions(null, false));
        assertEquals(soon, facts.endsSoon((days - left) * day));
    }

    @Test
    void aBrokenFileAffectsNoOtherAndTheLastGoodVersionStays() throws IOException {
        Made good = AUTHORITY.issue("good.example");
        Made other = AUTHORITY.issue("other.example");
        CertificateFiles files = good.write(directory, "good");
        CertificateFiles broken = other.write(directory, "broken");
        Files.writeString(broken.key(), good.keyPem());
        CertificateStore store = store(pair(broken), pair(files));
        assertEquals(serial(good), serials(store, "good.example"));
        assertEquals(serial(good), serials(store, null), "a broken certificate is not the default");
        TlsReport.Line line = store.report().lines().get(0);
        assertEquals(Kind.MISMATCH, line.fault());
        assertEquals(
                broken.key() + ": the key does not belong to the certificate in " + broken.certificate(),
                line.problem());

        record Bad(Kind kind, String chain) {}
        Made expired = AUTHORITY.issue(START, Instant.parse("2021-01-01T00:00:00Z"), "good.example");
        List<Bad> all = List.of(
                new Bad(Kind.MALFORMED, "rubbish"),
                new Bad(Kind.MALFORMED, good.chainPem().substring(0, 300)),
                new Bad(Kind.MISMATCH, other.chainPem()));
        long faults = 1;
        for (Bad bad : all) {
            Files.writeString(files.certificate(), bad.chain);
            store.checkFiles();
            assertEquals(serial(good), serials(store, "good.example"), bad::chain);
            assertEquals(bad.kind, store.report().lines().get(1).fault());
            faults++;
        }
        expired.write(directory, "good");
        store.checkFiles();
        assertEquals(serial(good), serials(store, "good.example"), "an expired version does not replace a valid one");
        assertEquals(Kind.EXPIRED, store.report().lines().get(1).fault());
        Files.delete(files.certificate());
        store.checkFiles();
        assertEquals(serial(good), serials(store, "good.example"), "a missing file");
        assertEquals(Kind.UNREADABLE, store.report().lines().get(1).fault());
        assertEquals(
                faults + 2,
                store.report().faults().values().stream()
                        .mapToLong(Long::longValue)
                        .sum());

        Made renewed = AUTHORITY.issue("good.example");
        renewed.write(directory, "good");
        store.checkFiles();
        assertEquals(serial(renewed), serials(store, "good.example"));
        assertNull(store.report().lines().get(1).fault());
    }

    @Test
    void aChangeThatMayBeHalfDoneIsLookedAtAgainBeforeItIsReported() throws IOException {
        Made good = AUTHORITY.issue("good.example");
        CertificateFiles files = good.write(directory, "good");
        CertificateStore store = store(pair(files));
        Made renewed = AUTHORITY.issue("good.example");
        Files.writeString(files.certificate(), renewed.chainPem());
        now.set(System.currentTimeMillis());
        store.checkFiles();
        assertNull(store.report().lines().get(0).fault(), "the key follows");
        Files.writeString(files.key(), renewed.keyPem());
        store.checkFiles();
        assertEquals(serial(renewed), serials(store, "good.example"));
    }

    @Test
    void expiringCertificatesAreReportedAndValidOnesPreferred() throws IOException {
        Instant soon = Instant.ofEpochMilli(now.get()).plus(Duration.ofDays(20));
        Made first = AUTHORITY.issue(START, soon, "www.example.com");
        Made second = AUTHORITY.issue(START, END, "www.example.com");
        Path directories = Files.createDirectory(directory.resolve("all"));
        first.write(directories, "a");
        CertificateStore store = store(in(directories));
        second.write(directories, "b");
        store.checkFiles();
        assertEquals(serial(first), serials(store, "www.example.com"));
        now.addAndGet(Duration.ofDays(21).toMillis());
        store.checkFiles();
        assertEquals(serial(second), serials(store, "www.example.com"));
        assertEquals(Kind.EXPIRED, store.report().lines().get(0).fault());
        Files.delete(directories.resolve("b.crt"));
        store.checkFiles();
        assertEquals(serial(first), serials(store, "www.example.com"), "better expired than none");
    }

    @Test
    void aDeletedDirectoryKeepsItsCertificates() throws IOException {
        Path one = Files.createDirectory(directory.resolve("one"));
        Made made = AUTHORITY.issue("www.example.com");
        made.write(one, "www");
        CertificateStore store = store(in(one));
        Files.move(one, directory.resolve("away"));
        store.checkFiles();
        assertEquals(serial(made), serials(store, "www.example.com"));
        assertNotNull(store.report().directories().get(one));
        Files.move(directory.resolve("away"), one);
        store.checkFiles();
        assertNull(store.report().lines().get(0).fault());
        assertEquals(0, store.report().directories().size());
    }

    /** Lines that a store logs at level WARN. */
    private static final class Warnings {
        final List<String> lines = new ArrayList<>();

        Logger logger() {
            return (Logger) Proxy.newProxyInstance(
                    Warnings.class.getClassLoader(), new Class<?>[] {Logger.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("warn")) {
                            Object[] values = (Object[]) arguments[1];
                            lines.add(MessageFormatter.basicArrayFormat((String) arguments[0], values));
                        }
                        return null;
                    });
        }
    }

    @Test
    void warnsOnceADayOfACertificateThatEndsWithin14Days() throws IOException {
        Instant end = Instant.ofEpochMilli(now.get()).plus(Duration.ofDays(15));
        CertificateFiles files = AUTHORITY.issue(START, end, "soon.example").write(directory, "soon");
        AUTHORITY.issue("later.example").write(directory, "later");
        Warnings warnings = new Warnings();
        CertificateStore store = new CertificateStore(
                config(null, UnknownName.DEFAULT, List.of(in(directory))), now::get, warnings.logger());
        store.checkFiles();
        assertEquals(List.of(), warnings.lines);
        now.addAndGet(Duration.ofHours(25).toMillis());
        store.checkFiles();
        store.checkFiles();
        assertEquals(1, warnings.lines.size(), warnings.lines::toString);
        String line = warnings.lines.get(0);
        assertEquals(
                "TLS: certificate " + files.certificate() + " for soon.example expires in 13 days, on "
                        + Instant.ofEpochSecond(end.getEpochSecond()) + "; renew it",
                line);
        now.addAndGet(Duration.ofDays(1).toMillis());
        store.checkFiles();
        assertEquals(2, warnings.lines.size(), warnings.lines::toString);
    }

    private CertificateStore storeWithCopies(Path storage) {
        TlsConfig config = config(null, UnknownName.DEFAULT, List.of(in(storage.resolve("certificates"))));
        CertificateStore store = new CertificateStore(config, now::get);
        store.copies(new CertificateCopies(
                storage.resolve("certificates"), storage.resolve("records"), directory.resolve("copies")));
        store.checkFiles();
        return store;
    }

    private Path storageWith(Made... all) throws IOException {
        Path storage = directory.resolve("storage");
        Files.createDirectories(storage.resolve("certificates"));
        Files.createDirectories(storage.resolve("records"));
        for (Made made : all) {
            String name = made.certificate().getSubjectX500Principal().getName().substring("CN=".length());
            Files.writeString(storage.resolve("certificates").resolve(name + ".pem"), made.chainPem() + made.keyPem());
            AcmeRecord record = new AcmeRecord(name, "i", 1, 2, 3, 0, 0, "", 0, List.of());
            Files.writeString(storage.resolve("records").resolve(AcmeRecord.fileName(name)), record.text());
        }
        return storage;
    }

    @Test
    void copiesAreUsedWhileTheStorageIsMissingAndOnlyThen() throws IOException {
        Made www = AUTHORITY.issue("www.example.com");
        Made shop = AUTHORITY.issue("shop.example.com");
        Path storage = storageWith(www, shop);
        storeWithCopies(storage);
        Path copy = directory.resolve("copies").resolve("www.example.com.pem");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(copy.getParent())));

        Path away = directory.resolve("away");
        Files.move(storage, away);
        CertificateStore store = storeWithCopies(storage);
        assertEquals(serial(www), serials(store, "www.example.com"));
        TlsReport.Line line = store.report().lines().get(0);
        assertEquals(
                storage.resolve("certificates").resolve("shop.example.com.pem")
                        + ": cannot be read; a local copy is in use",
                line.problem());
        assertNull(line.fault());

        Files.createDirectories(storage.resolve("certificates"));
        store.checkFiles();
        assertEquals(serial(www), serials(store, "www.example.com"), "empty, as a directory without its file system");
        Files.createDirectories(storage.resolve("records"));
        AcmeRecord ordered = AcmeRecord.of("www.example.com");
        Files.writeString(storage.resolve("records").resolve(AcmeRecord.fileName("www.example.com")), ordered.text());
        Made other = AUTHORITY.issue("other.example.com");
        Files.writeString(
                storage.resolve("certificates").resolve("other.example.com.pem"), other.chainPem() + other.keyPem());
        store.checkFiles();
        assertEquals(serial(www), serials(store, "www.example.com"), "while the first certificate is ordered");

        Files.move(storage, directory.resolve("wrong"));
        Files.move(away, storage);
        store.checkFiles();
        assertEquals(serial(www), serials(store, "www.example.com"));
        assertNull(store.report().lines().get(0).problem());
        assertEquals(
                List.of("shop.example.com.pem", "www.example.com.pem", "other.example.com.pem"),
                store.report().lines().stream()
                        .map(each -> each.files().certificate().getFileName().toString())
                        .toList());
    }

    @Test
    void deletedCertificateIsNotTakenFromItsCopy() throws IOException {
        Made www = AUTHORITY.issue("www.example.com");
        Made shop = AUTHORITY.issue("shop.example.com");
        Path storage = storageWith(www, shop);
        CertificateStore store = storeWithCopies(storage);
        Files.delete(storage.resolve("certificates").resolve("www.example.com.pem"));
        store.checkFiles();
        assertEquals(serial(shop), serials(store, "www.example.com"), "the default");
        assertEquals(false, Files.exists(directory.resolve("copies").resolve("www.example.com.pem")));
    }

    @Test
    void renewedCertificateReplacesItsCopy() throws IOException {
        Made www = AUTHORITY.issue("www.example.com");
        Path storage = storageWith(www);
        CertificateStore store = storeWithCopies(storage);
        Made next = AUTHORITY.issue("www.example.com");
        storageWith(next);
        store.checkFiles();
        Files.move(storage, directory.resolve("away"));
        assertEquals(serial(next), serials(storeWithCopies(storage), "www.example.com"));
    }
}
