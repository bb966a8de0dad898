package io.millrace.acme;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the operator's service whether a name may have a certificate. Thread-safe; blocks. */
final class AskClient {
    private static final Logger LOG = LoggerFactory.getLogger(AskClient.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Answer of the service. */
    enum Answer {
        YES,
        NO,
        /** No answer, or a fault of the service (5xx). */
        NONE
    }

    private final String url;
    private final HttpClient client;

    AskClient(String url, @Nullable Path caFile) throws IOException {
        this.url = url;
        // A redirect is no permission, so that the answer comes from the configured URL only.
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(TIMEOUT);
        if (caFile != null) {
            builder.sslContext(TrustedCa.context(caFile));
        }
        client = builder.build();
    }

    /** Yes for the status 200 and for no other. */
    Answer permits(String name) {
        String query = "domain=" + URLEncoder.encode(name, StandardCharsets.UTF_8);
        URI uri = URI.create(url + (url.indexOf('?') < 0 ? "?" : "&") + query);
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(TIMEOUT).build();
        try {
            HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            // The timeout ends with the head; nothing waits for the body.
            response.body().close();
            return answer(name, response.statusCode());
        } catch (IOException e) {
            LOG.warn("ACME: tls.acme.on_demand.ask does not answer for {}: {}", name, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Answer.NONE;
    }

    private static Answer answer(String name, int status) {
        if (status == 200) {
            return Answer.YES;
        }
        LOG.info("ACME: tls.acme.on_demand.ask permits no certificate for {} (status={})", name, status);
        return status >= 500 ? Answer.NONE : Answer.NO;
    }
}
