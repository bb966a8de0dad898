package io.millrace.proxy;

import io.millrace.proxy.geo.MmdbWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the databases of locations. */
class LiveGeoTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    private void write(String file, String country, String continent, long asn) throws Exception {
        Files.write(
                directory.resolve(file + ".mmdb"),
                new MmdbWriter(24, 6)
                        .add(127, 0, 0, 0, 8, MmdbWriter.country(country, continent))
                        .bytes());
        Files.write(
                directory.resolve(file + "-asn.mmdb"),
                new MmdbWriter(24, 6)
                        .add(127, 0, 0, 0, 8, MmdbWriter.network(asn))
                        .bytes());
    }

    @LiveKey("geo.database")
    void places() throws Exception {
        write("one", "DE", "EU", 1);
        write("two", "JP", "AS", 2);
        live.in(directory)
                .file("geo: {database: <one|two>.mmdb}\nrules: [{when: 'country == \"DE\" && continent == \"EU\"',"
                        + " answer: {status: 451}}]")
                .turns(451, 200, () -> live.status(live.fresh()));
    }

    @LiveKey("geo.country_field")
    void countryField() throws Exception {
        write("one", "DE", "EU", 1);
        live.echoes();
        live.in(directory)
                .file("geo: {database: one.mmdb, country_field: <X-One|X-Two>}")
                .turns("DE", null, () -> live.sent("x-one"));
    }

    @LiveKey("geo.asn_database")
    void networks() throws Exception {
        write("one", "DE", "EU", 64_500);
        write("two", "DE", "EU", 64_501);
        live.in(directory)
                .file("geo: {asn_database: <one|two>-asn.mmdb}\n"
                        + "rules: [{when: 'asn in (64500, 64502)', answer: {status: 451}}]")
                .turns(451, 200, () -> live.status(live.fresh()));
    }
}
