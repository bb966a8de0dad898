package io.millrace.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.shredzone.acme4j.AccountBuilder;
import org.shredzone.acme4j.Login;
import org.shredzone.acme4j.Session;
import org.shredzone.acme4j.connector.NetworkSettings;
import org.shredzone.acme4j.exception.AcmeException;
import org.shredzone.acme4j.provider.GenericAcmeProvider;
import org.shredzone.acme4j.util.KeyPairUtils;

/** The account at one issuer, created on first use. Thread-safe. */
final class IssuerSession {
    /** Attempts to acquire the lease of the account, {@link #LEASE_PAUSE_MILLIS} apart. */
    private static final int LEASE_TRIES = 60;

    private static final long LEASE_PAUSE_MILLIS = 500;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** acme4j's provider for any directory URL. Uses the configured CA file as trust store, if there is one. */
    private static final class Provider extends GenericAcmeProvider {
        private final @Nullable Path caFile;

        Provider(@Nullable Path caFile) {
            this.caFile = caFile;
        }

        @Override
        public HttpClient createHttpClient(NetworkSettings settings) {
            HttpClient.Builder builder = HttpClient.newBuilder()
                    .followRedirects(HttpClient.Redirect.NORMAL)
                    .connectTimeout(settings.getTimeout());
            if (caFile != null) {
                try {
                    builder.sslContext(TrustedCa.context(caFile));
                } catch (IOException e) {
                    throw new IllegalStateException("tls.acme.ca_file: " + e.getMessage(), e);
                }
            }
            return builder.build();
        }
    }

    private final AcmeConfig.Issuer issuer;
    private final AcmeConfig config;
    private final AcmeStorage storage;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Login login;

    IssuerSession(AcmeConfig.Issuer issuer, AcmeConfig config, AcmeStorage storage) {
        this.issuer = issuer;
        this.config = config;
        this.storage = storage;
    }

    /** Returns the login of the account; creates the account if there is none. Blocks. */
    Login login() throws AcmeException, IOException, InterruptedException {
        lock.lock();
        try {
            Login currentLogin = login;
            if (currentLogin == null) {
                currentLogin = open();
                login = currentLogin;
            }
            return currentLogin;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Opens the account. Holds the lease of the account meanwhile, so that only one of the launchers that share the
     * storage creates the account.
     */
    private Login open() throws AcmeException, IOException, InterruptedException {
        for (int i = 0; i < LEASE_TRIES; i++) {
            try (AcmeStorage.Lease lease =
                    storage.lease("account-" + accountName()).orElse(null)) {
                if (lease != null) {
                    return openWhileLeased();
                }
            }
            TimeUnit.MILLISECONDS.sleep(LEASE_PAUSE_MILLIS);
        }
        throw new IOException("another launcher is creating the account at " + issuer.directory());
    }

    private Login openWhileLeased() throws AcmeException, IOException {
        Session session = new Session(URI.create(issuer.directory()), new Provider(config.caFile()));
        session.networkSettings().setTimeout(TIMEOUT);
        String directory = "accounts/" + accountName();
        KeyPair key = key(directory + ".key");
        Optional<String> location = storage.get(directory + ".url");
        if (location.isPresent()) {
            return session.login(URI.create(location.get().strip()).toURL(), key);
        }
        AccountBuilder builder = new AccountBuilder().agreeToTermsOfService().useKeyPair(key);
        String email = config.email();
        if (email != null) {
            builder.addEmail(email);
        }
        String eabKeyId = issuer.eabKeyId();
        Path eabKeyFile = issuer.eabKeyFile();
        if (eabKeyId != null && eabKeyFile != null) {
            builder.withKeyIdentifier(eabKeyId, Files.readString(eabKeyFile).strip());
        }
        Login made = builder.createLogin(session);
        storage.put(directory + ".url", made.getAccountLocation().toString());
        return made;
    }

    /**
     * Returns the file name of the account. It consists of the host of the directory URL, and a digest of the URL, the
     * e-mail address and the key identifier of external account binding (EAB).
     */
    private String accountName() {
        String identity = issuer.directory() + " " + config.email() + " " + issuer.eabKeyId();
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(identity.getBytes(StandardCharsets.UTF_8));
            return URI.create(issuer.directory()).getHost() + "-"
                    + HexFormat.of().formatHex(digest, 0, 4);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private KeyPair key(String path) throws IOException {
        Optional<String> stored = storage.get(path);
        if (stored.isPresent()) {
            return KeyPairUtils.readKeyPair(new StringReader(stored.get()));
        }
        KeyPair made = KeyPairUtils.createECKeyPair("secp256r1");
        storage.put(path, pem(made));
        return made;
    }

    /** Drops the account, which the issuer no longer knows. The next use creates an account with the same key. */
    void forget() throws IOException {
        lock.lock();
        try {
            login = null;
            storage.delete("accounts/" + accountName() + ".url");
        } finally {
            lock.unlock();
        }
    }

    /** Returns a private key as PEM text. */
    static String pem(KeyPair key) throws IOException {
        StringWriter text = new StringWriter();
        KeyPairUtils.writeKeyPair(key, text);
        return text.toString();
    }
}
