package io.millrace.proxy;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.domain.properties.HasOwner;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.concurrent.CompletableFuture;

/** Rules for the dependencies between the packages of proxy-core. A rule about a package without classes holds. */
@AnalyzeClasses(packages = "io.millrace.proxy", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {

    private static final String ROOT = "io.millrace.proxy";

    /** The packages on the path of a request on an event loop. */
    private static final String[] REQUEST_PATH = {
        ROOT + ".net..",
        ROOT + ".http..",
        ROOT + ".http1..",
        ROOT + ".http2..",
        ROOT + ".exchange..",
        ROOT + ".access..",
        ROOT + ".remap..",
        ROOT + ".caching..",
        ROOT + ".lookup..",
        ROOT + ".serve..",
        ROOT + ".fetch..",
        ROOT + ".origin..",
        ROOT + ".dns..",
        ROOT + ".fill.."
    };

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching(ROOT + ".(**)").should().beFreeOfCycles().allowEmptyShould(true);

    @ArchTest
    static final ArchRule cachingDependsOnHttpAndTheStoreOnly = classes()
            .that()
            .resideInAPackage(ROOT + ".caching..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    ROOT + ".caching..",
                    ROOT + ".http..",
                    "io.millrace.store",
                    "io.netty.buffer..",
                    "io.netty.util..",
                    "java.lang..",
                    "java.util",
                    "java.util.function",
                    "java.util.stream",
                    "java.util.zip",
                    "java.nio",
                    "java.nio.charset",
                    "java.io",
                    "java.security",
                    "org.jspecify.annotations")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule httpDependsOnNoOtherPackage = classes()
            .that()
            .resideInAPackage(ROOT + ".http..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    ROOT + ".http..",
                    "io.netty.buffer..",
                    "io.netty.util..",
                    "java.lang..",
                    "java.util",
                    "java.util.function",
                    "java.nio",
                    "java.nio.charset",
                    "org.jspecify.annotations")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule decisionsReadNoClock = noClasses()
            .that()
            .resideInAnyPackage(
                    ROOT + ".caching..", ROOT + ".http..", ROOT + ".remap..", ROOT + ".access..", ROOT + ".origin..")
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.time.Clock")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule decisionsKnowNoChannel = noClasses()
            .that()
            .resideInAnyPackage(
                    ROOT + ".caching..", ROOT + ".http..", ROOT + ".remap..", ROOT + ".access..", ROOT + ".origin..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty.channel..", "io.netty.handler..")
            .allowEmptyShould(true);

    /** Unix domain sockets need epoll: the admin API and the access log have one class each that uses it. */
    @ArchTest
    static final ArchRule onlyNetAndFetchKnowTheNativeTransports = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".net..", ROOT + ".fetch..")
            .and()
            .haveNameNotMatching("io\\.millrace\\.proxy\\."
                    + "(admin\\.AdminTransport|observe\\.log\\.target\\.JournaldSocket)(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty.channel.epoll..", "io.netty.channel.uring..", "io.netty.internal.tcnative..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule onlyConfigReadsYaml = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + ".config..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.snakeyaml..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule onlyObserveKnowsTheMetricsLibrary = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT, ROOT + ".observe..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.micrometer..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule onlyTheFacadeImportsExchange = noClasses()
            .that()
            .resideOutsideOfPackages(
                    ROOT, ROOT + ".exchange..", ROOT + ".server..", ROOT + ".explain..", ROOT + ".admin.data..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(ROOT + ".exchange..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nothingInsideImportsTheFacade = noClasses()
            .that()
            .resideInAPackage(ROOT + ".*..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(ROOT)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule onlyTheStoresApiIsUsed = noClasses()
            .should()
            .dependOnClassesThat(
                    resideInAPackage("io.millrace.store.*..").and(DescribedPredicate.not(simpleName("StoreEngine"))))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule noRegularExpressionsMeetRequests = noClasses()
            .that()
            .resideInAnyPackage(REQUEST_PATH)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.util.regex..")
            .allowEmptyShould(true);

    /** That class checks limits: an unchecked expression could exhaust the library. */
    @ArchTest
    static final ArchRule onlyRegexCompilesExpressions = noClasses()
            .that()
            .doNotHaveSimpleName("Regex")
            .should()
            .callMethodWhere(JavaCall.Predicates.target(HasName.Predicates.nameMatching("compile|matches"))
                    .and(JavaCall.Predicates.target(HasOwner.Predicates.With.owner(
                            HasName.Predicates.nameMatching("com\\.google\\.re2j\\.Pattern")))));

    @ArchTest
    static final ArchRule eventLoopsFormatNothing = noClasses()
            .that()
            .resideInAnyPackage(REQUEST_PATH)
            .should()
            .callMethod(String.class, "format", String.class, Object[].class)
            .orShould()
            .callMethod(String.class, "formatted", Object[].class)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule eventLoopsWaitForNothing = noClasses()
            .that()
            .resideInAnyPackage(REQUEST_PATH)
            .should()
            .callMethod(CompletableFuture.class, "get")
            .orShould()
            .callMethod(CompletableFuture.class, "join")
            .orShould()
            .callMethod(Object.class, "wait")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nobodySleeps = noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", long.class, int.class)
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule noMethodIsSynchronized =
            noMethods().should().haveModifier(JavaModifier.SYNCHRONIZED).allowEmptyShould(true);

    @ArchTest
    static final ArchRule namesSayWhatAThingIs = noClasses()
            .should()
            .haveNameMatching(".*(Manager|Helper|Utils?|Impl|Info|Data)(\\$.*)?")
            .allowEmptyShould(true);
}
