package io.millrace.store;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

/** Rules for the dependencies between the packages of the store. */
@AnalyzeClasses(packages = "io.millrace.store", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule PACKAGES_ARE_FREE_OF_CYCLES =
            slices().matching("io.millrace.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule ROOMS_DO_NOT_KNOW_WHO_USES_THEM = noClasses()
            .that()
            .resideInAPackage("io.millrace.store.*..")
            .and()
            .resideOutsideOfPackage("io.millrace.store.engine..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.millrace.store", "io.millrace.store.engine..");

    @ArchTest
    static final ArchRule THE_API_STANDS_ALONE = noClasses()
            .that()
            .resideInAPackage("io.millrace.store")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.millrace.store.*..");

    @ArchTest
    static final ArchRule THE_STORE_KNOWS_BUFFERS_AND_NOTHING_ELSE_OF_NETTY = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty.channel..", "io.netty.handler..", "io.millrace.proxy..");

    @ArchTest
    static final ArchRule ONLY_IO_TOUCHES_FILES = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.store.io")
            .and()
            .doNotHaveSimpleName("CountedBuffer") // passes calls to methods of a buffer that take channels
            .should()
            .dependOnClassesThat()
            .haveNameMatching("java\\.nio\\.channels\\..*|java\\.nio\\.file\\.Files|java\\.io\\.(RandomAccessFile"
                    + "|FileInputStream|FileOutputStream)|java\\.nio\\.MappedByteBuffer");

    @ArchTest
    static final ArchRule NO_OTHER_PACKAGE_OPENS_FILES = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.store.io")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.io.File");

    @ArchTest
    static final ArchRule ONLY_THE_SIMULATION_KNOWS_CAFFEINE = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.store.curve")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.github.benmanes..");

    @ArchTest
    static final ArchRule NOTHING_USES_UNSAFE = noClasses()
            .should()
            .dependOnClassesThat()
            .haveNameMatching("sun\\..*|jdk\\.internal\\..*|io\\.netty\\.util\\.internal\\.PlatformDependent.*");

    @ArchTest
    static final ArchRule NOBODY_FORMATS_OR_SLEEPS = noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(String.class, "format", String.class, Object[].class)
            .orShould()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.regex..", "java.util.stream..");

    @ArchTest
    static final ArchRule PACKAGES_ARE_NULL_MARKED = classes()
            .that()
            .haveSimpleName("package-info")
            .should()
            .beAnnotatedWith(NullMarked.class)
            .allowEmptyShould(true);
}
